"""The resources served for custom resource definitions: a function of the present definitions."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from hydrofoil.apiextensions.conditions import Definition
from hydrofoil.apiextensions.name_conflicts import Taken
from hydrofoil.apiextensions.resources import holds, resources, stored_resource
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.engine import ResourceType, Stored
from hydrofoil.errors import FAULTS
from hydrofoil.outbound.services import Services
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import RETRY_SECONDS, run
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategy import Strategy

if TYPE_CHECKING:
    from hydrofoil.apiextensions.conversion import Webhook


class InstanceStrategy(Strategy):
    """Report each removed instance: the removal of its definition may wait for that."""

    def __init__(self, objects: Objects, gone: Callable[[], None]) -> None:
        super().__init__(objects)
        self._gone = gone

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        if new is None:
            self._gone()


LOG = logging.getLogger("hydrofoil")


class Known(Struct, frozen=True):
    """The last published state of a definition."""

    state: bytes
    """A digest of everything that serving depends on."""
    form: bytes
    """A digest of everything that the representation of objects depends on."""
    natives: dict[str, ResourceType]


class Plan(Struct, frozen=True):
    """The next state of a definition to publish."""

    stored: Stored
    definition: Definition
    state: bytes
    form: bytes
    selectable: bytes
    """A digest of the selectable fields; empty for those that all objects have."""


def digest(stored: Stored) -> bytes:
    """Return a digest of the spec of a definition.

    It is of the text: decoding the schemas is long work, and they may be nested too deeply for it. It decides whether a
    definition has changed, so it is a SHA-256, of which no two texts are known: a user who may write a definition must
    not be able to make two that are taken for one. The text itself is up to a megabyte.
    """
    return hashlib.sha256(stored.member("spec") or b"").digest()


class Served:
    """The catalog's custom resources, the names that definitions hold, and the conversion webhooks.

    Long work is done off the loop; until it is complete, a definition is served as before.
    """

    def __init__(
        self,
        registry: Registry,
        clock: Clock,
        swapped: Callable[[tuple[str, str] | None], None],
        services: Services,
        instance_gone: Callable[[str], None],
    ) -> None:
        """Call `swapped` when resources were added, changed or removed, with the collection whose streams end, if any.

        `services` locates the conversion webhooks; `instance_gone` is called with the name of a definition when an
        instance is removed.
        """
        self._registry = registry
        self._clock = clock
        self._swapped = swapped
        self._services = services
        self._instance_gone = instance_gone
        self._present: dict[str, Stored] = {}
        self._accepted: dict[str, dict[str, Any]] = {}
        self._waiting: set[str] = set()
        """Definitions that lack some of the names they request."""
        self._known: dict[str, Known] = {}
        self._selectable: dict[str, bytes] = {}
        self._instances: dict[str, Resource] = {}
        self._webhooks: dict[str, Webhook] = {}
        self._works: dict[str, asyncio.Task[None]] = {}
        self._faults: dict[str, BaseException] = {}
        self._changed: dict[str, None] = {}

    async def close(self) -> None:
        """Stop the work and close the connections to webhooks."""
        self._faults.clear()
        tasks = list(self._works.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for webhook in self._webhooks.values():
            await webhook.close()

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present definitions."""
        found = {stored.name: stored for stored in objects}
        for name in [name for name in self._present if name not in found]:
            self._forget(name)
        for stored in found.values():
            self._take(stored)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        if new is not None:
            self._take(new)
        elif old is not None:
            self._forget(old.name)

    async def settle(self) -> None:
        """Wait until the work off the loop is complete."""
        while self._works:
            await asyncio.wait(self._works.values())

    async def settled(self, name: str) -> None:
        """Wait until a definition, and those of its group it affects, are served as specified; raise their error."""
        group = name.partition(".")[2]
        while works := [work for other, work in self._works.items() if other.partition(".")[2] == group]:
            await asyncio.wait(works)
        if (fault := self._faults.get(name)) is not None:
            raise RuntimeError(f"{name} is not served as it says") from fault

    def changed(self) -> list[str]:
        """Return the definitions added, changed or removed since the last call."""
        changed, self._changed = self._changed, {}
        return list(changed)

    def present(self, name: str) -> Stored | None:
        """Return a definition as it was applied."""
        return self._present.get(name)

    def instances(self, name: str) -> Resource | None:
        """Return the storage resource of a definition's instances; None if they were never served."""
        return self._instances.get(name)

    def taken(self, group: str) -> Taken:
        """Return the names of resources and of kinds that definitions of a group hold."""
        taken, kinds = set[str](), set[str]()
        for name, names in self._accepted.items():
            if name.partition(".")[2] == group:
                taken |= {names.get("plural", ""), names.get("singular", ""), *names.get("shortNames", ())}
                kinds |= {names.get("kind", ""), names.get("listKind", "")}
        return taken - {""}, kinds - {""}

    def waiting(self, group: str) -> list[str]:
        """Return the definitions of a group that lack some of the names they request."""
        return sorted(name for name in self._waiting if name.partition(".")[2] == group)

    def _take(self, stored: Stored) -> None:
        name = stored.name
        before = self._present.get(name)
        if before is not None and before.uid != stored.uid:
            self._forget(name)
        elif before is not None and before.revision == stored.revision and name not in self._faults:
            return
        self._present[name] = stored
        self._changed[name] = None
        self._faults.pop(name, None)
        try:
            definition = self._registry.outlines.of(stored)
            accepted = definition.get("status", {}).get("acceptedNames", {})
            self._accepted[name] = accepted
            (self._waiting.discard if definition["spec"]["names"] == accepted else self._waiting.add)(name)
            if name in self._works:
                return
            if stored.size > LARGE:
                self._works[name] = asyncio.create_task(self._beside(name))
            elif (plan := self._plan(stored, definition, digest(stored))) is not None:
                self._publish(plan)
        except FAULTS as e:
            self._failed(name, e)

    def _forget(self, name: str) -> None:
        """Stop serving a removed definition."""
        del self._present[name]
        self._changed[name] = None
        self._selectable.pop(name, None)
        self._accepted.pop(name, None)
        self._faults.pop(name, None)
        self._waiting.discard(name)
        self._withdraw(name)
        self._instances.pop(name, None)

    def _failed(self, name: str, fault: BaseException) -> None:
        LOG.error("%s is not served as it says", name, exc_info=fault)
        self._faults[name] = fault
        self._clock.machine.later(RETRY_SECONDS, partial(self._again, name))

    def _again(self, name: str) -> None:
        if name in self._faults:
            self._take(self._present[name])

    def _plan(self, stored: Stored, definition: Definition, spec: bytes) -> Plan | None:
        """Return the next state to publish for a definition, by the digest of its spec; None if it is published."""
        name = stored.name
        if not (holds(definition, "NamesAccepted") or holds(definition, "Established")):
            self._withdraw(name)
            return None
        names = definition["status"]["acceptedNames"]
        conditions = [holds(definition, kind) for kind in ("NamesAccepted", "Established", "Terminating")]
        state = spec + orjson.dumps([names, conditions])
        if (known := self._known.get(name)) is not None and known.state == state:
            return None
        form = spec + orjson.dumps(names)
        # Selectable values are read with defaults, which a schema may change.
        selects = any(v.get("selectableFields") for v in definition["spec"]["versions"])
        return Plan(stored, definition, state, form, spec if selects else b"")

    def _publish(self, plan: Plan) -> None:
        """Publish a definition, or begin to prepare it."""
        name = plan.stored.name
        if self._reselects(plan):
            self._works[name] = asyncio.create_task(self._beside(name))
            return
        known = self._known.get(name)
        same = known is not None and known.form == plan.form
        # If only conditions changed, the representation is kept (`updateCustomResourceDefinition`).
        natives = known.natives if same and known else dict(self._registry.catalog.native.custom(plan.stored))
        webhook = self._webhook(name, plan.definition["spec"].get("conversion", {}))
        self._swap(plan, natives, webhook, resources(plan.definition, natives, webhook))

    def _reselects(self, plan: Plan) -> bool:
        """Report whether existing objects have other selectable values from now on."""
        before = self._selectable.get(plan.stored.name)
        if before is not None:
            return before != plan.selectable
        # The server that stored them may have used another state of the definition.
        return bool(plan.selectable) and not self._registry.storage.at_once

    async def _beside(self, name: str) -> None:
        """Publish a definition off the loop; changes after completion are new work."""
        try:
            await self._make(name)
        except FAULTS as e:
            if name in self._present:
                self._failed(name, e)
        finally:
            del self._works[name]
            if name not in self._present:
                self._webhook(name, {})

    async def _make(self, name: str) -> None:
        """Publish the latest state of a definition: it may be written again meanwhile."""
        form, natives = b"", dict[str, ResourceType]()
        known = self._known.get(name)
        if known is not None:
            form, natives = known.form, known.natives
        while (stored := self._present.get(name)) is not None:
            large = stored.size > LARGE
            spec = await run(digest, stored, pooled=large)
            if self._present.get(name) is not stored:
                continue
            plan = self._plan(stored, self._registry.outlines.of(stored), spec)
            if plan is None:
                return
            if form != plan.form:
                natives = dict(await run(self._registry.catalog.native.custom, stored, pooled=large))
                form = plan.form
            if self._present.get(name) is not stored:
                continue
            webhook = self._webhook(name, plan.definition["spec"].get("conversion", {}))
            made = resources(plan.definition, natives, webhook)
            if self._reselects(plan):
                instances = stored_resource(plan.definition, natives, webhook)
                collection = self._registry.collection(instances)
                if not collection.ready():
                    await collection.wait()
                await collection.reindex(instances.native)
                self._selectable[name] = plan.selectable
            if self._present.get(name) is stored:
                self._swap(plan, natives, webhook, made)
                return

    def _swap(
        self, plan: Plan, natives: dict[str, ResourceType], webhook: Webhook | None, made: list[Resource]
    ) -> None:
        """Publish the prepared state of a definition; streams of the former one end."""
        name = plan.stored.name
        known = self._known.get(name)
        instances = stored_resource(plan.definition, natives, webhook)
        self._known[name] = Known(plan.state, plan.form, natives)
        self._selectable[name] = plan.selectable
        self._instances[name] = instances
        shard = instances.storage
        if shard not in self._registry.strategies:
            self._registry.strategies[shard] = InstanceStrategy(self._registry, partial(self._instance_gone, name))
        # Followed from now on, if loading that is still required.
        self._registry.collection(instances)
        self._registry.catalog.replace(name, made)
        self._swapped(None if known is not None and known.form == plan.form else shard)

    def _webhook(self, name: str, conversion: dict[str, Any]) -> Webhook | None:
        """Return the conversion webhook of a definition; a former one closes after its last call."""
        old = self._webhooks.get(name)
        if old is not None and old.conversion == conversion:
            return old
        if old is not None:
            self._webhooks.pop(name).retire()
        if conversion.get("strategy") != "Webhook":
            return None
        # Most definitions need none, and start without its modules.
        from hydrofoil.apiextensions.conversion import Webhook

        found = self._webhooks[name] = Webhook(conversion, self._services, self._registry.chance)
        return found

    def _withdraw(self, name: str) -> None:
        """Withdraw all resources of a definition."""
        if self._known.pop(name, None) is not None:
            self._registry.catalog.replace(name, [])
            if (instances := self._instances.get(name)) is not None:
                self._swapped(instances.storage)
        self._webhook(name, {})
