"""POST to a collection."""

from __future__ import annotations

from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body


async def create(context: Context) -> Answer:
    """Store a new object."""
    given = await body.read(context, context.resource.native, "CreateOptions")
    write = context.write(dry_run=given.options.dry_run, manager=context.manager())
    stored = await context.registry.create(context.resource, context.info.namespace, given.draft, write)
    return await respond.answer_object(context, stored, 201)
