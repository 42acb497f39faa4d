"""POST to a collection."""

from __future__ import annotations

from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.respond import Answer
from hydrofoil.endpoints.scope import Scope


async def create(scope: Scope) -> Answer:
    """Stores a new object."""
    draft, options = await body.read(scope, scope.resource.native, "CreateOptions")
    body.check_namespace(scope, draft)
    stored = await scope.registry.create(
        scope.resource,
        scope.info.namespace,
        draft,
        scope.write(dry_run=options.dry_run, manager=scope.manager()),
        sent=scope.sent,
    )
    return await scope.shown(stored, 201)
