"""Crowds of requests, spread over turns of the loop where flat limits are in force."""

from __future__ import annotations

from collections.abc import Awaitable

from hydrofoil.answer import Answer
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.endpoints.crowd import Crowd


def spread(crowd: Crowd, limit: Filter) -> Filter:
    """Let a request wait for its turn before it counts as in flight: most are answered within theirs."""

    def begin(context: Context, inner: Handler) -> Awaitable[Answer]:
        if crowd.full:
            return later(crowd, context, lambda context: limit(context, inner))
        return limit(context, inner)

    return begin


async def later(crowd: Crowd, context: Context, inner: Handler) -> Answer:
    """Answer a request in a later turn."""
    await crowd.wait()
    return await inner(context)
