"""GET of one object."""

from __future__ import annotations

import asyncio

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import params, respond
from hydrofoil.endpoints.context import Context

WAIT_SECONDS = 3.0
"""How long a read waits for a version that has not been reached (RV-36)."""


async def reached(context: Context, revision: int) -> None:
    """Waits for a revision. Raises 504 when it does not come."""
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
    while context.registry.backend.revision < revision:
        if asyncio.get_running_loop().time() >= deadline:
            raise errors.too_large_version(revision, context.registry.backend.revision)
        await asyncio.sleep(0.02)


async def caught_up(context: Context) -> None:
    """Waits for the version that a read asks for. Raises 400 and 504."""
    version = context.params.get("resourceVersion", "")
    if version:
        wanted = params.revision(version)
        if wanted > context.registry.backend.revision:
            await reached(context, wanted)


async def get(context: Context) -> Answer:
    """The present version, not older than asked for."""
    await caught_up(context)
    if "export" in context.params and params.truth(context.params, "export"):
        raise errors.bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    stored = context.registry.get(context.resource, context.info.namespace, context.info.name)
    if context.resource.webhook is not None:
        await context.registry.show(context.resource, [stored])
    return await respond.shown(context, stored)
