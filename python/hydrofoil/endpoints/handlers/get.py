"""GET of one object."""

from __future__ import annotations

import asyncio

from hydrofoil import errors
from hydrofoil.endpoints import params
from hydrofoil.endpoints.respond import Answer
from hydrofoil.endpoints.scope import Scope

WAIT_SECONDS = 3.0
"""How long a read waits for a version that has not been reached (RV-36)."""


async def reached(scope: Scope, revision: int) -> None:
    """Waits for a revision. Raises 504 when it does not come."""
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
    while scope.registry.backend.revision < revision:
        if asyncio.get_running_loop().time() >= deadline:
            raise errors.too_large_version(revision, scope.registry.backend.revision)
        await asyncio.sleep(0.02)


async def caught_up(scope: Scope) -> None:
    """Waits for the version that a read asks for. Raises 400 and 504."""
    version = scope.params.get("resourceVersion", "")
    if version:
        wanted = params.revision(version)
        if wanted > scope.registry.backend.revision:
            await reached(scope, wanted)


async def get(scope: Scope) -> Answer:
    """The present version, not older than asked for."""
    await caught_up(scope)
    if "export" in scope.params and params.truth(scope.params, "export"):
        raise errors.bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    stored = scope.registry.get(scope.resource, scope.info.namespace, scope.info.name)
    if scope.resource.webhook is not None:
        await scope.registry.show(scope.resource, [stored])
    return await scope.shown(stored)
