"""The garbage collector on a registry, without a server: which objects it keeps and which it deletes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hydrofoil.admission.chain import Chain
from hydrofoil.aggregation.backends import Backends
from hydrofoil.aggregation.content import RemoteContent
from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.aggregation.remote import RemoteClient
from hydrofoil.controllers.garbage import GarbageCollector
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.engine import Stored
from hydrofoil.outbound.services import Services
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.watch.hub import Hub
from tests.unit.parts import CATALOG, Object, draft, opened, resource

MAPS = resource("configmaps")


class Collected:
    """A collector that works when it is asked to."""

    def __init__(self, registry: Registry, hub: Hub) -> None:
        self.registry = registry
        services = Services(CATALOG.find, registry.collection, {})
        remote = RemoteContent(Registrations(), RemoteClient(Backends(services)))
        self.collector = GarbageCollector(Runtime(registry, hub, Chain([])), remote)
        self.queued: list[tuple[str, ...]] = []
        self.collector.put = lambda *key: self.queued.append(key)  # type: ignore[method-assign]

    async def create(self, name: str, *owners: Stored, **metadata: object) -> Stored:
        """Write an object, and have the collector see it."""
        references = [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": o.name, "uid": o.uid, **({"blockOwnerDeletion": True})}
            for o in owners
        ]
        body: Object = {"metadata": {"name": name, "namespace": "a", "ownerReferences": references, **metadata}}
        stored = await self.registry.create(MAPS, "a", draft(MAPS, body), Write())
        self.see(stored)
        return stored

    def see(self, stored: Stored) -> None:
        """Show an object to the collector."""
        self.collector.on_object(MAPS, None, stored)

    def gone(self, stored: Stored) -> None:
        """Show the deletion of an object to the collector."""
        self.collector.on_object(MAPS, stored, None)

    async def settle(self) -> None:
        """Work until nothing is queued."""
        while self.queued:
            assert await self.collector.work(self.queued.pop(0))

    def names(self) -> list[str]:
        """The objects that are left."""
        return [stored.name for stored in self.registry.all(MAPS)]


@pytest.fixture
async def collected() -> AsyncIterator[Collected]:
    async with opened() as registry:
        hub = Hub(registry.storage, registry.clock)
        found = Collected(registry, hub)
        yield found
        await found.collector.stop()


async def remove(collected: Collected, stored: Stored) -> None:
    """Take an object out, and have the collector see it."""
    await collected.registry.collection(MAPS).delete(stored)
    collected.gone(stored)


async def test_dependents_go_with_their_owner(collected: Collected) -> None:
    owner = await collected.create("owner")
    await collected.create("dependent", owner)
    await collected.settle()
    assert collected.names() == ["dependent", "owner"]
    await remove(collected, owner)
    await collected.settle()
    assert collected.names() == []


async def test_a_dependent_with_another_owner_stays_and_forgets_the_one_that_went(collected: Collected) -> None:
    one, two = await collected.create("one"), await collected.create("two")
    await collected.create("dependent", one, two)
    await remove(collected, one)
    await collected.settle()
    assert collected.names() == ["dependent", "two"]
    left = collected.registry.get(MAPS, "a", "dependent")
    assert one.uid.encode() not in left.json and two.uid.encode() in left.json


async def test_an_owner_of_the_same_name_is_not_the_owner(collected: Collected) -> None:
    owner = await collected.create("owner")
    await remove(collected, owner)
    collected.queued.clear()
    await collected.create("owner")
    await collected.create("dependent", owner)
    await collected.settle()
    assert collected.names() == ["owner"]


async def test_an_owner_of_a_kind_that_nobody_serves_may_be_there(collected: Collected) -> None:
    unknown = {"apiVersion": "e.com/v1", "kind": "Thing", "name": "t", "uid": "t"}
    await collected.create("dependent", ownerReferences=[unknown])
    await collected.settle()
    assert collected.names() == ["dependent"]


async def test_most_writes_change_nothing_of_the_graph(collected: Collected) -> None:
    stored = await collected.create("owner")
    collected.queued.clear()
    collected.see(stored)
    assert collected.queued == []


async def test_what_is_not_there_any_more_is_done(collected: Collected) -> None:
    assert await collected.collector.work(("item", "never seen"))


async def test_an_owner_that_a_restore_brought_back_is_there_again(collected: Collected) -> None:
    """A restore has the uids of its state: an owner that was seen as missing is the same object again."""
    owner = await collected.create("owner")
    await collected.create("dependent", owner)
    await collected.settle()
    collected.gone(owner)
    collected.queued.clear()
    collected.see(owner)
    await collected.settle()
    assert collected.names() == ["dependent", "owner"]
