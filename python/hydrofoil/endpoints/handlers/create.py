"""POST to a collection."""

from __future__ import annotations

from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body


async def create(context: Context) -> Answer:
    """Store a new object."""
    draft, options = await body.read(context, context.resource.native, "CreateOptions")
    body.check_namespace(context, draft)
    stored = await context.registry.create(
        context.resource,
        context.info.namespace,
        draft,
        context.write(dry_run=options.dry_run, manager=context.manager()),
        sent=context.sent,
    )
    return await respond.shown(context, stored, 201)
