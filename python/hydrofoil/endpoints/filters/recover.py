"""The outermost filter: a fault ends the one request that it comes from."""

from __future__ import annotations

from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Handler
from hydrofoil.errors import FAULTS


async def recover(context: Context, inner: Handler) -> Answer:
    """Answer 500 for whatever is raised, and log it (`WithPanicRecovery`)."""
    try:
        return await inner(context)
    except FAULTS as e:
        transport = context.request.transport
        if isinstance(e, ConnectionError) and (transport is None or transport.is_closing()):
            # Nobody is left to answer.
            raise
        return respond.broken(context, e)
