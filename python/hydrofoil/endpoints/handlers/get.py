"""GET of one object."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.endpoints import params
from hydrofoil.endpoints.respond import Answer
from hydrofoil.endpoints.scope import Scope
from hydrofoil.registry.fresh import told


async def reached(scope: Scope, revision: int | None) -> None:
    """Waits for a revision of the collection; None: for what is true now. Raises 504 when it does not come, 503."""
    collection = scope.collection
    if not collection.ready(revision):
        with told():
            await collection.wait(revision)


async def caught_up(scope: Scope) -> None:
    """Waits for the version that a read asks for. Raises 400, 503 and 504."""
    version = scope.params.get("resourceVersion", "")
    await reached(scope, params.revision(version) if version else None)


async def get(scope: Scope) -> Answer:
    """The present version, not older than asked for."""
    await caught_up(scope)
    if "export" in scope.params and params.truth(scope.params, "export"):
        raise errors.bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    stored = scope.registry.get(scope.resource, scope.info.namespace, scope.info.name)
    if scope.resource.webhook is not None:
        await scope.registry.show(scope.resource, [stored])
    return await scope.shown(stored)
