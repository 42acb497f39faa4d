"""The seats of a request (apiserver `pkg/server/filters/priority-and-fairness.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil.answer import NOSNIFF, TEXT, Answer
from hydrofoil.clock import stopwatch
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.endpoints.crowd import Crowd
from hydrofoil.endpoints.filters.in_flight import REFUSAL
from hydrofoil.endpoints.filters.spread import later
from hydrofoil.fairness.level import Level
from hydrofoil.fairness.queues import Ticket
from hydrofoil.fairness.service import Fairness

LONGEST_WAIT = 60.0
"""The seconds that any request may wait in its queue."""


def fairness(fair: Fairness, dropped: Callable[[Context], None], crowd: Crowd) -> Filter:
    """Answer 429 where a level has no seats and its queues are full; `dropped` is called with the request.

    Requests without a limit have turns of the loop as they arrive; those of levels with queues wait in these instead.
    """

    def limit(context: Context, inner: Handler) -> Awaitable[Answer]:
        info = context.info
        watch = info.verb == "watch"
        if info.lasting and not watch:
            return inner(context)
        level, flow = fair.classify(context.user, info)
        context.common += flow.lines
        queues = level.queues
        if queues.exempt:
            queues.enter(context, flow)
            context.at_end(lambda _: queues.leave(context))
            return later(crowd, context, inner) if crowd.full else inner(context)
        busy = bool(queues.queues) and (queues.waiting > 0 or fair.turns.busy())
        ticket = queues.start(flow, fair.work(level, flow, info), busy=busy)
        if ticket is None:
            return _refused(context, fair, level, dropped)
        ticket.request = context
        if ticket.granted is not None:
            return _waiting(context, inner, fair, level, ticket, dropped)
        _hold(context, ticket, watch)
        return inner(context)

    return limit


def _hold(context: Context, ticket: Ticket, watch: bool) -> None:
    """Give the seats back at the end, or those of a watch once it has begun."""
    context.at_end(ticket.end)
    if watch:
        context.at_start(ticket.end)


async def _waiting(
    context: Context, inner: Handler, fair: Fairness, level: Level, ticket: Ticket, dropped: Callable[[Context], None]
) -> Answer:
    """Wait for the turn of a request, for a fourth of its time at most."""
    queues, granted = level.queues, ticket.granted
    assert granted is not None, "it waits"
    allowed = context.allowed or context.patience
    timer = fair.clock.later(min(allowed / 4, LONGEST_WAIT), lambda: queues.expire(ticket))
    try:
        await granted
    except BaseException:
        # The client has disconnected, or the deadline has passed.
        queues.expire(ticket)
        queues.finish(ticket)
        raise
    finally:
        timer.cancel()
    if not ticket.executing:
        ticket.flow.counts.waited["false"].observe(stopwatch() - ticket.arrived)
        return await _refused(context, fair, level, dropped)
    ticket.flow.counts.waited["true"].observe(ticket.started - ticket.arrived)
    _hold(context, ticket, context.info.verb == "watch")
    return await inner(context)


async def _refused(context: Context, fair: Fairness, level: Level, dropped: Callable[[Context], None]) -> Answer:
    dropped(context)
    seconds = level.retry_after.refused(int(fair.clock.seconds()))
    lines = b"Retry-After: %d\r\n%s" % (seconds, NOSNIFF)
    return respond.answer(context, 429, REFUSAL, TEXT, context.common + lines)
