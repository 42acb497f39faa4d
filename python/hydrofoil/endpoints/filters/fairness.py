"""The seats of a request (apiserver `pkg/server/filters/priority-and-fairness.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from hydrofoil.answer import NOSNIFF, TEXT, Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.endpoints.filters.in_flight import REFUSAL
from hydrofoil.engine import Ticket
from hydrofoil.fairness.level import Level
from hydrofoil.fairness.service import Fairness

LONGEST_WAIT = 60.0
"""The seconds that any request may wait in its queue."""


def fairness(fair: Fairness, dropped: Callable[[Context], None]) -> Filter:
    """Answer 429 where a level has no seats and its queues are full; `dropped` is called with the request."""

    def limit(context: Context, inner: Handler) -> Awaitable[Answer]:
        info = context.info
        watch = info.verb == "watch"
        if info.lasting and not watch:
            return inner(context)
        level, flow = fair.classify(context.user, info)
        context.common += flow.lines
        if context.memo is not None:
            context.memo.seats = level.queues, flow
            context.memo.list_seats = 0 if level.exempt else fair.list_seats(level, info)
        if level.exempt:
            _hold(context, level.queues.enter(flow, context, info.verb), watch)
            return inner(context)
        ticket = level.queues.start(flow, fair.work(level, flow, info), context, info.verb)
        if ticket is None:
            return _refuse(context, fair, level, dropped)
        if ticket.waits:
            return _waiting(context, inner, fair, level, ticket, dropped)
        _hold(context, ticket, watch)
        return inner(context)

    return limit


def _hold(context: Context, ticket: Ticket, watch: bool) -> None:
    """Give the seats back at the end, or those of a watch once it has begun."""
    context.at_end(ticket)
    if watch:
        context.at_start(ticket)


async def _waiting(
    context: Context, inner: Handler, fair: Fairness, level: Level, ticket: Ticket, dropped: Callable[[Context], None]
) -> Answer:
    """Wait for the turn of a request, for a fourth of its time at most."""
    granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    ticket.hold(granted)
    fair.dispatcher.wait()
    allowed = context.allowed or context.request_timeout
    timer = fair.clock.later(min(allowed / 4, LONGEST_WAIT), partial(_expire, ticket))
    try:
        await granted
    except BaseException:
        # The client has disconnected, or the deadline has passed.
        ticket.expire()
        ticket.end()
        raise
    finally:
        timer.cancel()
    if not ticket.executing:
        return await _refuse(context, fair, level, dropped)
    _hold(context, ticket, context.info.verb == "watch")
    return await inner(context)


def _expire(ticket: Ticket) -> None:
    """End the wait of a request."""
    granted = ticket.expire()
    if granted is not None and not granted.done():
        granted.set_result(None)


async def _refuse(context: Context, fair: Fairness, level: Level, dropped: Callable[[Context], None]) -> Answer:
    dropped(context)
    seconds = level.retry_after.refused(int(fair.clock.seconds()))
    lines = b"Retry-After: %d\r\n%s" % (seconds, NOSNIFF)
    return respond.answer(context, 429, REFUSAL, TEXT, context.common + lines)
