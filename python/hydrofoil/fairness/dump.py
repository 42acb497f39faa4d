"""The pages of priority and fairness (apiserver `pkg/util/flowcontrol/apf_controller_debug.go`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from hydrofoil.clock import Clock
from hydrofoil.engine import Flow, Work
from hydrofoil.fairness.service import Fairness
from hydrofoil.request import Incoming

LEVELS = (
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
)
QUEUES = (
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
)
REQUESTS = (
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
    "StartTime",
)
DETAILS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")
NEVER = "0001-01-01T00:00:00Z"
Shown = tuple[Incoming, Flow, Work, int | None, int | None, float, float | None]
"""A request, its flow and work, its queue, its place in that if it waits, and the seconds since it came and began."""


def table(rows: Sequence[Sequence[str]]) -> str:
    """Align cells as Go's tabwriter does: at least 8 wide, a space between."""
    widths = [max(8, *(len(row[at]) + 2 for row in rows)) for at in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = [f"{cell},".ljust(width) for cell, width in zip(row[:-1], widths, strict=True)]
        lines.append("".join(cells) + row[-1] + "\n")
    return "".join(lines)


def without_control_characters(text: str) -> str:
    """Return a text without control characters: users and names are whatever clients choose."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def levels(fairness: Fairness) -> str:
    """Return a row for each level."""
    rows: list[Sequence[str]] = [LEVELS]
    for name, level in sorted(fairness.levels.items()):
        q = level.queues
        numbers = (q.waiting, q.executing, q.dispatched, q.rejected, 0, q.late)
        flags = (str(level.idle).lower(), str(level.leaving).lower())
        rows.append((name, str(q.backlog), *flags, *map(str, numbers)))
    return table(rows)


def queues(fairness: Fairness) -> str:
    """Return a row for each queue."""
    rows: list[Sequence[str]] = [QUEUES]
    for name, level in fairness.levels.items():
        for at, (waiting, running, seats, begins, first, most, work) in enumerate(level.queues.states()):
            sums = (f"{begins:.8f}ss", str(first), str(most), f"{work:.8f}ss")
            rows.append((name, *map(str, (at, waiting, running, seats)), *sums))
    return table(rows)


def requests(fairness: Fairness, *, details: bool) -> str:
    """Return a row for each request that waits or runs."""
    rows: list[Sequence[str]] = [(*REQUESTS, *DETAILS) if details else REQUESTS]
    for name, level in fairness.levels.items():
        rows += (row(name, fairness.clock, one, details) for one in level.queues.requests())
    return table(rows)


def row(level: str, clock: Clock, found: Shown, details: bool) -> Sequence[str]:
    """Return the row of one request."""
    request, flow, work, queue, place, arrived, started = found
    cells: Iterator[str] = map(
        str,
        (
            level,
            flow.schema,
            -1 if queue is None else queue,
            -1 if place is None else place,
            without_control_characters(flow.distinguisher),
            moment(clock, arrived),
            work.first,
            work.last,
            f"{work.extra:g}s",
            moment(clock, started),
        ),
    )
    if not details:
        return tuple(cells)
    info = request.info
    version = f"{info.group}/{info.version}" if info.group else info.version
    more = (request.user.name, info.verb, info.path, info.scope, info.name, version, info.resource, info.subresource)
    return (*cells, *map(without_control_characters, more))


def moment(clock: Clock, ago: float | None) -> str:
    """Return the time so many seconds ago."""
    if ago is None:
        return NEVER
    found = datetime.fromtimestamp(clock.seconds() - ago, UTC)
    return found.isoformat(timespec="microseconds").replace("+00:00", "Z")
