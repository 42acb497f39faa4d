"""Which moment of a schedule is due, and when the next one is (`pkg/controller/cronjob/utils.go`)."""

from __future__ import annotations

from typing import NamedTuple

from hydrofoil.controllers.batch.cron_schedule import Schedule
from hydrofoil.controllers.objects.cron_jobs import CronJob
from hydrofoil.controllers.objects.times import parse_time

MANY = 100
"""More missed moments than this are probably a mistake."""


class UnusableSchedule(ValueError):
    """A schedule that is well formed and has no moments."""


class RecentSchedule(NamedTuple):
    """The moments of a schedule since the last job, or since the cron job was made."""

    begin: float
    """When they begin, in seconds since 1970."""
    latest: int | None
    """The last one that is not in the future; None if there is none."""
    missed: int
    """How many there were, estimated by the first two; 0 if at most one."""


def recent_schedule(cron_job: CronJob, schedule: Schedule, now: float, *, to_deadline: bool) -> RecentSchedule:
    """Return the recent moments (`mostRecentScheduleTime`), with `to_deadline` those that may begin late still.

    Raise UnusableSchedule.
    """
    spec, status = cron_job.spec, cron_job.status
    begin = parse_time(status.last_schedule_time or cron_job.metadata.creation_timestamp)
    if to_deadline and spec.starting_deadline_seconds is not None:
        begin = max(begin, now - spec.starting_deadline_seconds)
    first = schedule.next(begin)
    second = None if first is None else schedule.next(first)
    if first is not None and now < first:
        return RecentSchedule(begin, None, 0)
    if first is not None and second is not None and now < second:
        return RecentSchedule(begin, first, 0)
    if first is None or second is None:
        raise UnusableSchedule("time difference between two schedules is less than 1 second")
    interval = second - first
    missed = int(now - first) // interval + 1
    # The moments need not be regular: those before this one are not looked at, however many there are.
    return RecentSchedule(begin, schedule.latest(first + (missed - 2) * interval, now), missed)


def seconds_to_next(cron_job: CronJob, schedule: Schedule, now: float) -> float:
    """Return the seconds until a cron job has to be looked at again (`nextScheduleTimeDuration`).

    Upstream adds a tenth of a second for clocks that differ; here there is one.
    """
    start: float | None
    try:
        recent = recent_schedule(cron_job, schedule, now, to_deadline=False)
    except UnusableSchedule:
        start = now
    else:
        start = recent.latest
        if start is None:
            start = now if recent.missed else recent.begin
    found = schedule.next(start)
    return 0.0 if found is None else found - now
