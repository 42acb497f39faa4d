"""Options of a test server: the flags of `serve`, as Python values or as texts, and a few of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from hydrofoil.options import Flag, Refused, Texts, flags, quoted, texts
from hydrofoil.server.config import ROOMS, Config
from hydrofoil.server.run import StartError

OWN = ("seed", "clock", "snapshot")
"""The options that are no flags."""


@cache
def known() -> dict[str, Flag]:
    """Return the flags by the names of their options."""
    return {name.lstrip("-").replace("-", "_"): flag for room in ROOMS for flag in flags(room) for name in flag.names}


def check(given: Mapping[str, Any]) -> None:
    """Raise TypeError for an option that does not exist."""
    for name in given:
        if name not in OWN and name not in known():
            raise TypeError(f"Server has no option {name!r}")


class Given(NamedTuple):
    """The options of one server."""

    config: Config
    seed: int | None
    clock: datetime | None
    snapshot: Any
    """A path, or a snapshot of another server."""


def parse(given: Mapping[str, Any]) -> Given:
    """Return the settings of options. Raise StartError with one line for a value that has no meaning."""
    settings: dict[str, Any] = {"port": 0}
    for name, value in given.items():
        if name not in OWN and value is not None:
            flag = known()[name]
            settings[flag.setting] = _value(flag, value)
    seed = given.get("seed")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise StartError(f"seed must be a whole number, not {seed!r}")
    clock = given.get("clock")
    return Given(Config(**settings), seed, None if clock is None else moment(clock), given.get("snapshot"))


def moment(value: Any) -> datetime:
    """Return the moment of a text in RFC 3339 or of an aware datetime. Raise StartError."""
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise StartError(f"{value!r} is no moment, such as 2026-01-01T00:00:00Z") from None
    if found.tzinfo is None:
        raise StartError(f"{value!r} has no zone; 2026-01-01T00:00:00Z has")
    return found.astimezone(UTC)


def _value(flag: Flag, value: Any) -> Any:
    """Return the setting of a flag. Raise StartError, in the words of the command line."""
    name = flag.names[0]
    given = texts(flag, value)
    if not given:
        return type(flag.default)()
    try:
        made: Any = flag.read(given[0])
        for text in given[1:]:
            made = Texts((*made, *flag.read(text)))
    except Refused as e:
        raise StartError(str(e).replace("<flag>", name)) from None
    except ValueError as e:
        raise StartError(f"invalid argument {quoted(str(value))} for {quoted(name)} flag: {e}") from None
    return made
