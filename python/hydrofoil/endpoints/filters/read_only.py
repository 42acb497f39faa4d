"""A server whose objects nobody changes: every write is refused, reviews are answered."""

from __future__ import annotations

from collections.abc import Awaitable

from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.errors import ApiError, forbidden
from hydrofoil.request import REVIEWS

WHY = "this server is read-only"
READS = frozenset(("GET", "HEAD", "OPTIONS"))


def read_only() -> Filter:
    """Answer 403 to every write, those of a dry run included: what they would do is not tried either."""

    def decide(context: Context, inner: Handler) -> Awaitable[Answer]:
        return inner(context) if is_read(context) else _refuse(context)

    return decide


def is_read(context: Context) -> bool:
    """Report whether a request changes nothing."""
    info = context.info
    if context.method in READS:
        return True
    return context.method == "POST" and (info.group, info.resource) in REVIEWS and not info.subresource


async def _refuse(context: Context) -> Answer:
    info = context.info
    if info.resourceful:
        error = forbidden(info.group, info.resource, info.name, WHY)
    else:
        error = ApiError(403, "Forbidden", f'"{info.path}" is forbidden: {WHY}', {})
    return respond.answer_error(context, error)
