"""GET of one object."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import params, respond
from hydrofoil.endpoints.context import Context
from hydrofoil.registry.fresh import told


async def reached(context: Context, revision: int | None) -> None:
    """Waits for a revision of the collection; None: for what is true now. Raises 504 when it does not come, 503."""
    collection = context.collection
    if not collection.ready(revision):
        with told():
            await collection.wait(revision)


async def caught_up(context: Context) -> None:
    """Waits for the version that a read asks for. Raises 400, 503 and 504."""
    version = context.params.get("resourceVersion", "")
    await reached(context, params.revision(version) if version else None)


async def absent(context: Context) -> bool:
    """Whether there is no such object, and not only none yet in a view that is behind. Raises 503 and 504."""
    where = context.resource.native, context.info.namespace, context.info.name
    if context.collection.get(*where) is None:
        await reached(context, None)
    return context.collection.get(*where) is None


async def get(context: Context) -> Answer:
    """The present version, not older than asked for."""
    await caught_up(context)
    if "export" in context.params and params.truth(context.params, "export"):
        raise errors.bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    stored = context.registry.get(context.resource, context.info.namespace, context.info.name)
    if context.resource.webhook is not None:
        await context.registry.show(context.resource, [stored])
    return await respond.shown(context, stored)
