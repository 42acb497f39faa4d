"""The deadline of a request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import params, respond
from hydrofoil.endpoints.context import Context, Filter, Handler


def deadline(seconds: float, terminated: Callable[[Context, int], None], *, asks: bool = False) -> Filter:
    """Answer 504 to a request that exceeds the limit of client or server, and 400 to an invalid `timeout`.

    A long-running request has a deadline only if it sets one; watches read their own
    (`WithRequestDeadline`, `WithTimeoutForNonLongRunningRequests`). `asks`: answers may wait for another process.
    `terminated` counts those that exceed it.
    """

    def limit(context: Context, inner: Handler) -> Awaitable[Answer]:
        info = context.info
        if info.verb == "watch":
            return inner(context)
        asked = None
        if "timeout=" in info.query:
            try:
                asked = params.timeout(params.parse(info.query))
            except errors.ApiError as e:
                return _at_once(respond.answer_error(context, e))
        if asked is None and info.lasting:
            return inner(context)
        context.allowed = asked or seconds
        if asked is None and context.request.content.is_eof() and not asks:
            # A received request is answered at once; only one whose body is still arriving waits, or one for which
            # another process is asked.
            return inner(context)
        return _answer_in_time(context, inner, terminated)

    return limit


async def _at_once(answer: Answer) -> Answer:
    return answer


async def _answer_in_time(context: Context, inner: Handler, terminated: Callable[[Context, int], None]) -> Answer:
    try:
        async with asyncio.timeout_at(context.ends()):
            return await inner(context)
    except TimeoutError:
        terminated(context, 504)
        return respond.answer_error(context, errors.timed_out())
