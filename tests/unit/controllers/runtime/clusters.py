"""A runtime over an empty store, without a server around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hydrofoil.admission.chain import Chain
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.write import Write
from hydrofoil.watch.hub import Hub
from tests.unit.parts import Object, draft, opened, resource

MAPS = resource("configmaps")


@asynccontextmanager
async def running() -> AsyncIterator[Runtime]:
    """Yield a runtime whose hub is woken by writes."""
    async with opened() as registry:
        hub = Hub(registry.storage, registry.clock)
        yield Runtime(registry, hub, Chain([]))
        hub.close()


async def create(runtime: Runtime, name: str, namespace: str = "a", **metadata: object) -> Stored:
    """Create a config map."""
    body: Object = {"metadata": {"name": name, "namespace": namespace, **metadata}}
    return await runtime.registry.create(MAPS, namespace, draft(MAPS, body), Write())


async def change(runtime: Runtime, name: str, value: str) -> Stored:
    """Write the data of a config map."""

    def changed(old: Stored) -> Draft:
        made = old.thaw()
        made.set(["data"], b'{"k":"%s"}' % value.encode())
        return made

    return await runtime.registry.update(MAPS, "a", name, changed, Write())


async def delete(runtime: Runtime, name: str) -> None:
    """Delete a config map."""
    await runtime.registry.delete(MAPS, "a", name, DeleteOptions(), Write())
