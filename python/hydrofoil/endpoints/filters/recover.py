"""The outermost filter: a fault ends only the request that caused it."""

from __future__ import annotations

from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Handler
from hydrofoil.errors import FAULTS


async def recover(context: Context, inner: Handler) -> Answer:
    """Answer 500 for any exception, and log it (`WithPanicRecovery`)."""
    try:
        return await inner(context)
    except FAULTS as e:
        if isinstance(e, ConnectionError):
            # The wire detects whether the client is still connected.
            raise
        return respond.answer_fault(context, e)
