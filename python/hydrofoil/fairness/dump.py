"""The pages of priority and fairness (apiserver `pkg/util/flowcontrol/apf_controller_debug.go`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from hydrofoil.clock import Clock, stopwatch
from hydrofoil.fairness.flow import ONE
from hydrofoil.fairness.queues import Ticket
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


def table(rows: Sequence[Sequence[str]]) -> str:
    """Align cells as Go's tabwriter does: at least 8 wide, a space between."""
    widths = [max(8, *(len(row[at]) + 2 for row in rows)) for at in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = [f"{cell},".ljust(width) for cell, width in zip(row[:-1], widths, strict=True)]
        lines.append("".join(cells) + row[-1] + "\n")
    return "".join(lines)


def shown(text: str) -> str:
    """Return a text without control characters: users and names are whatever clients choose."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def levels(fairness: Fairness) -> str:
    """Return a row for each level."""
    rows: list[Sequence[str]] = [LEVELS]
    for name, level in sorted(fairness.levels.items()):
        q = level.queues
        numbers = (q.waiting, q.seats.executing, q.seats.dispatched, q.rejected, 0, q.late)
        flags = (str(q.idle).lower(), str(level.leaving).lower())
        rows.append((name, str(len(q.backlog)), *flags, *map(str, numbers)))
    return table(rows)


def queues(fairness: Fairness) -> str:
    """Return a row for each queue."""
    rows: list[Sequence[str]] = [QUEUES]
    for name, level in fairness.levels.items():
        for at, q in enumerate(level.queues.queues):
            first, most = sum(t.work.first for t in q.waiting), sum(t.work.most for t in q.waiting)
            numbers = (at, len(q.waiting), q.executing, q.seats)
            sums = (f"{q.next:.8f}ss", str(first), str(most), f"{q.work:.8f}ss")
            rows.append((name, *map(str, numbers), *sums))
    return table(rows)


def requests(fairness: Fairness, *, details: bool) -> str:
    """Return a row for each request that waits or runs."""
    rows: list[Sequence[str]] = [(*REQUESTS, *DETAILS) if details else REQUESTS]
    for name, level in fairness.levels.items():
        places = {id(q): at for at, q in enumerate(level.queues.queues)}
        for q in level.queues.queues:
            rows += (row(name, fairness.clock, places[id(q)], at, t, details) for at, t in enumerate(q.waiting))
        for ticket in level.queues.running:
            place = -1 if ticket.queue is None else places.get(id(ticket.queue), -1)
            rows.append(row(name, fairness.clock, place, -1, ticket, details))
        for request, (flow, started) in level.queues.passing.items():
            ticket = Ticket(level.queues, flow, ONE)
            ticket.request, ticket.started = request, started
            rows.append(row(name, fairness.clock, -1, -1, ticket, details))
    return table(rows)


def row(level: str, clock: Clock, place: int, at: int, ticket: Ticket, details: bool) -> Sequence[str]:
    """Return the row of one request."""
    cells: Iterator[str] = map(
        str,
        (
            level,
            ticket.flow.counts.schema,
            place,
            at,
            shown(ticket.flow.distinguisher),
            moment(clock, ticket.arrived or ticket.started),
            ticket.work.first,
            ticket.work.last,
            f"{ticket.work.extra:g}s",
            moment(clock, ticket.started),
        ),
    )
    request: Incoming | None = ticket.request
    if not details or request is None:
        return (*cells, *([""] * len(DETAILS) if details else ()))
    info = request.info
    version = f"{info.group}/{info.version}" if info.group else info.version
    more = (request.user.name, info.verb, info.path, info.scope, info.name, version, info.resource, info.subresource)
    return (*cells, *map(shown, more))


def moment(clock: Clock, at: float) -> str:
    """Return a point of the stopwatch as a time."""
    if not at:
        return NEVER
    found = datetime.fromtimestamp(clock.seconds() - (stopwatch() - at), UTC)
    return found.isoformat(timespec="microseconds").replace("+00:00", "Z")
