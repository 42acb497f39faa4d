"""Schedules of cron jobs, as `github.com/robfig/cron/v3` reads and computes them.

The libraries of Python differ from it in what they accept, and in the hours that a change of time adds or removes.
"""

from __future__ import annotations

from calendar import timegm
from datetime import UTC, datetime, timedelta, tzinfo
from math import floor
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from hydrofoil import engine

YEARS = 5
"""How many years ahead a time is searched."""
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
EVERY = "@every "


class Schedule(Protocol):
    """Moments, in seconds since 1970."""

    def next(self, after: float) -> int | None:
        """Return the first moment after a time; None if there is none in five years."""

    def latest(self, after: int, now: float) -> int | None:
        """Return the last moment after a time that is not in the future; None if there is none."""


class Field(NamedTuple):
    """The values of one field."""

    values: frozenset[int]
    is_star: bool
    """Whether it says nothing, so that days are decided by the other field of days alone."""


class Bounds(NamedTuple):
    """The values that a field may have."""

    least: int
    most: int
    names: dict[str, int]


MINUTE, HOUR, DAY = Bounds(0, 59, {}), Bounds(0, 23, {}), Bounds(1, 31, {})
MONTH = Bounds(1, 12, {name: number for number, name in enumerate(MONTHS, 1)})
WEEKDAY = Bounds(0, 6, {name: number for number, name in enumerate(DAYS)})


class Zone:
    """A time zone: seconds since 1970 from and to the time that clocks show."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone

    def offset(self, seconds: int) -> int:
        """Return by how many seconds clocks are ahead at a moment."""
        offset = datetime.fromtimestamp(seconds, self._zone).utcoffset() or timedelta()
        return int(offset.total_seconds())

    def wall(self, seconds: int) -> datetime:
        """Return what clocks show at a moment."""
        return datetime.fromtimestamp(seconds, self._zone)

    def moment(self, *fields: int) -> int:
        """Return when clocks show a time, from the year to the second; near a change of time as Go's `time.Date`."""
        seconds = timegm((*fields, 0, 0, 0))
        return seconds - self.offset(seconds - self.offset(seconds))


class Search:
    """The moment that is looked at next."""

    def __init__(self, zone: Zone, moment: int) -> None:
        self._zone = zone
        self.moment = moment
        self.wall = zone.wall(moment)
        self.begun = False
        """Whether the moment was moved: the smaller fields have their first values then."""

    def _set(self, moment: int) -> None:
        self.moment = moment
        self.wall = self._zone.wall(moment)

    def reset(self, *, day: int = 0, hour: int = 0) -> None:
        """Bring smaller fields to their first values, before the first move."""
        if not self.begun:
            self.begun = True
            self._set(self._zone.moment(self.wall.year, self.wall.month, day or self.wall.day, hour))

    def move(self, seconds: int) -> None:
        """Go on by time that passes."""
        self._set(self.moment + seconds)

    def add_month(self) -> None:
        """Go to the same time of the next month."""
        wall = self.wall
        first = wall.year + wall.month // 12, wall.month % 12 + 1
        self._set(self._zone.moment(*first, wall.day, wall.hour, wall.minute, wall.second))

    def add_day(self) -> None:
        """Go to midnight of the next day, or to what is there instead where clocks change at midnight."""
        following = (self.wall.replace(tzinfo=None) + timedelta(days=1)).timetuple()
        self._set(self._zone.moment(*following[:6]))
        if hour := self.wall.hour:
            self.move((24 - hour) * 3600 if hour > 12 else -hour * 3600)


class ConstantDelay:
    """A moment every so many seconds, from whatever begins."""

    def __init__(self, seconds: float) -> None:
        self.delay = max(int(seconds), 1)

    def next(self, after: float) -> int:
        """Return the moment that follows a time."""
        return floor(after) + self.delay

    def latest(self, after: int, now: float) -> int | None:
        """Return the last moment after a time that is not in the future."""
        count = (floor(now) - after) // self.delay
        return after + count * self.delay if count > 0 else None


class CronSchedule:
    """The minutes that fit five fields."""

    def __init__(self, fields: tuple[Field, Field, Field, Field, Field], zone: Zone) -> None:
        self._minute, self._hour, self._day, self._month, self._weekday = fields
        self._zone = zone

    def _fits(self, wall: datetime) -> bool:
        """Report whether a day fits: by both fields of days if one is a star, else by one of them."""
        day = wall.day in self._day.values
        weekday = wall.isoweekday() % 7 in self._weekday.values
        if self._day.is_star or self._weekday.is_star:
            return day and weekday
        return day or weekday

    def next(self, after: float) -> int | None:
        """Return the first moment after a time (`SpecSchedule.Next`); None if there is none in five years.

        The fields are brought to a value that fits from the largest to the smallest one. One that wraps around changes
        a larger one, so all are looked at again.
        """
        search = Search(self._zone, floor(after) + 1)
        limit = search.wall.year + YEARS
        while search.wall.year <= limit:
            if (
                self._find_month(search)
                and self._find_day(search)
                and self._find_hour(search)
                and self._find_minute(search)
            ):
                return search.moment
        return None

    def latest(self, after: int, now: float) -> int | None:
        """Return the last moment after a time that is not in the future.

        There may be thousands: it is found by halves, since a later time has no earlier next moment.
        """
        found, end = self.next(after), floor(now)
        if found is None or found > end:
            return None
        while found < end:
            middle = (found + end) // 2
            moment = self.next(middle)
            if moment is not None and moment <= now:
                found = moment
            else:
                end = middle
        return found

    def _find_month(self, search: Search) -> bool:
        """Bring the month to one that fits; report whether no larger field has changed."""
        while search.wall.month not in self._month.values:
            search.reset(day=1)
            search.add_month()
            if search.wall.month == 1:
                return False
        return True

    def _find_day(self, search: Search) -> bool:
        while not self._fits(search.wall):
            search.reset()
            search.add_day()
            if search.wall.day == 1:
                return False
        return True

    def _find_hour(self, search: Search) -> bool:
        while search.wall.hour not in self._hour.values:
            search.reset(hour=search.wall.hour)
            search.move(3600)
            if search.wall.hour == 0:
                return False
        return True

    def _find_minute(self, search: Search) -> bool:
        """Bring the minute to one that fits, and to its first second."""
        while search.wall.minute not in self._minute.values or search.wall.second:
            search.begun = True
            search.move(60 - search.moment % 60)
            if search.wall.minute == 0:
                return False
        return True


def _number(text: str, names: dict[str, int]) -> int:
    """Return a number or what a name means. Raise ValueError."""
    known = names.get(text.lower())
    if known is not None:
        return known
    if not text.removeprefix("+").isdecimal() or not text.isascii():
        raise ValueError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)


def _range(text: str, bounds: Bounds) -> tuple[range, bool]:
    """Return the values of a part of a field, and whether it is a star. Raise ValueError."""
    limits, *steps = text.split("/")
    low, *rest = limits.split("-")
    is_star = low in ("*", "?")
    if is_star:
        first, last = bounds.least, bounds.most
    elif len(rest) > 1:
        raise ValueError(f"too many hyphens: {text}")
    else:
        first = _number(low, bounds.names)
        last = _number(rest[0], bounds.names) if rest else first
    if len(steps) > 1:
        raise ValueError(f"too many slashes: {text}")
    step = _number(steps[0], {}) if steps else 1
    if steps and not rest:
        last = bounds.most
    _check(text, bounds, first, last, step)
    return range(first, last + 1, step), is_star and step == 1


def _check(text: str, bounds: Bounds, first: int, last: int, step: int) -> None:
    if first < bounds.least:
        raise ValueError(f"beginning of range ({first}) below minimum ({bounds.least}): {text}")
    if last > bounds.most:
        raise ValueError(f"end of range ({last}) above maximum ({bounds.most}): {text}")
    if first > last:
        raise ValueError(f"beginning of range ({first}) beyond end of range ({last}): {text}")
    if not step:
        raise ValueError(f"step of range should be a positive number: {text}")


def _field(text: str, bounds: Bounds) -> Field:
    values: set[int] = set()
    is_star = False
    for part in filter(None, text.split(",")):
        found, star = _range(part, bounds)
        values.update(found)
        is_star = is_star or star
    return Field(frozenset(values), is_star)


def load_zone(name: str) -> tzinfo:
    """Return a time zone by its name, empty for UTC (`time.LoadLocation`). Raise ValueError."""
    if name in ("", "UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as e:
        # ZoneInfoNotFoundError is a KeyError; a name that is a folder, or no path, raises one of the others.
        raise ValueError(f"unknown time zone {name}") from e


def parse_schedule(text: str) -> Schedule:
    """Read a schedule, with or without `TZ=` before it (`cron.ParseStandard`). Raise ValueError."""
    zone: tzinfo = UTC
    if text.startswith(("TZ=", "CRON_TZ=")):
        head, _, text = text.partition(" ")
        name, text = head.partition("=")[2], text.strip()
        try:
            zone = load_zone(name)
        except ValueError as e:
            raise ValueError(f"provided bad location {name}: {e}") from e
    if text.startswith(EVERY):
        duration = engine.duration(text.removeprefix(EVERY))
        if duration is None:
            raise ValueError(f"failed to parse duration {text}")
        return ConstantDelay(duration)
    if text.startswith("@") and text not in MACROS:
        raise ValueError(f"unrecognized descriptor: {text}")
    fields = MACROS.get(text, text).split()
    if not fields:
        raise ValueError("empty spec string")
    if len(fields) != 5:
        raise ValueError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    minute, hour, day, month, weekday = map(_field, fields, (MINUTE, HOUR, DAY, MONTH, WEEKDAY))
    return CronSchedule((minute, hour, day, month, weekday), Zone(zone))
