"""GET of one object."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import memos, params, respond
from hydrofoil.endpoints.context import Context
from hydrofoil.registry.fresh import as_api_errors


async def wait_for_revision(context: Context, revision: int | None) -> None:
    """Wait for a revision of the collection; None: the present one. Raise ApiError 503, or 504 if it is not reached."""
    collection = context.collection
    if not collection.ready(revision):
        with as_api_errors():
            await collection.wait(revision)


async def caught_up(context: Context) -> None:
    """Wait for the resource version of a read. Raise ApiError 400, 503 and 504."""
    version = context.params.get("resourceVersion", "")
    revision = params.revision(version) if version else None
    # In memory it always is, and needs no coroutine.
    if not context.collection.ready(revision):
        await wait_for_revision(context, revision)


async def absent(context: Context) -> bool:
    """Report whether the object is absent, and not only missing in a view that lags. Raise ApiError 503 and 504."""
    where = context.resource.native, context.info.namespace, context.info.name
    if context.collection.get(*where) is None:
        await wait_for_revision(context, None)
    return context.collection.get(*where) is None


async def get(context: Context) -> Answer:
    """Return the present version, not older than requested."""
    await caught_up(context)
    if "export" in context.params and params.truth(context.params, "export"):
        raise errors.bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    stored = await context.registry.read(context.resource, context.info.namespace, context.info.name)
    answer = await respond.answer_object(context, stored)
    if context.memo is not None:
        memos.describe(context, context.memo)
    return answer
