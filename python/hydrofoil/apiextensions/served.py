"""The resources served for custom resource definitions: a function of the present definitions."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping
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


class Entry(Struct):
    """One definition, and what is served for it."""

    present: Stored | None = None
    """The definition as it was applied last; None once it is removed."""
    accepted: Mapping[str, Any] = {}
    """The names that it holds."""
    lacks_names: bool = False
    """Whether it lacks some of the names that it requests."""
    known: Known | None = None
    """What is published; None while nothing is."""
    selectable: bytes | None = None
    """The digest of the selectable fields by which its objects are indexed; None before the first time."""
    instances: Resource | None = None
    """The storage resource of its objects; it stays when the definition is withdrawn."""
    webhook: Webhook | None = None
    """Its conversion webhook. Work off the loop may have made it for a definition that is removed meanwhile."""
    fault: BaseException | None = None
    """Why it is not served as specified; it is tried again later."""


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
        services: Services | None,
        instance_gone: Callable[[str], None],
    ) -> None:
        """Call `swapped` when resources were added, changed or removed, with the collection whose streams end, if any.

        `services` locates the conversion webhooks, which are not called without; `instance_gone` is called
        with the name of a definition when an instance is removed.
        """
        self._registry = registry
        self._clock = clock
        self._swapped = swapped
        self._services = services
        self._instance_gone = instance_gone
        self._entries: dict[str, Entry] = {}
        """By name of the definition. One that was removed stays while work off the loop is under way for it."""
        self._works: dict[str, asyncio.Task[None]] = {}
        """The work off the loop, apart from the entries: there are few of these at a time, and thousands of those."""
        self._changed: dict[str, None] = {}
        """The definitions added, changed or removed since they were last asked for, in order."""

    async def close(self) -> None:
        """Stop the work and close the connections to webhooks."""
        for entry in self._entries.values():
            entry.fault = None
        tasks = list(self._works.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # A definition may still come or go while one of them closes.
        for entry in list(self._entries.values()):
            if entry.webhook is not None:
                await entry.webhook.close()

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present definitions."""
        found = {stored.name: stored for stored in objects}
        for name in [name for name, entry in self._entries.items() if entry.present is not None and name not in found]:
            self._forget(name)
        for stored in found.values():
            self._take(stored)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        if new is not None:
            self._take(new)
        elif old is not None:
            self._forget(old.name)

    def _entry(self, name: str) -> Entry:
        """Return what is known of a definition, nothing at first."""
        return self._entries.get(name) or self._entries.setdefault(name, Entry())

    async def settle(self) -> None:
        """Wait until the work off the loop is complete."""
        while self._works:
            await asyncio.wait(self._works.values())

    async def settled(self, name: str) -> None:
        """Wait until a definition, and those of its group it affects, are served as specified; raise their error."""
        group = name.partition(".")[2]
        while works := [work for other, work in self._works.items() if other.partition(".")[2] == group]:
            await asyncio.wait(works)
        if (entry := self._entries.get(name)) is not None and entry.fault is not None:
            raise RuntimeError(f"{name} is not served as it says") from entry.fault

    def changed(self) -> list[str]:
        """Return the definitions added, changed or removed since the last call."""
        changed, self._changed = self._changed, {}
        return list(changed)

    def present(self, name: str) -> Stored | None:
        """Return a definition as it was applied."""
        return entry.present if (entry := self._entries.get(name)) is not None else None

    def instances(self, name: str) -> Resource | None:
        """Return the storage resource of a definition's instances; None if they were never served."""
        return entry.instances if (entry := self._entries.get(name)) is not None else None

    def taken(self, group: str) -> Taken:
        """Return the names of resources and of kinds that definitions of a group hold."""
        taken, kinds = set[str](), set[str]()
        for name, entry in self._entries.items():
            if name.partition(".")[2] == group:
                names = entry.accepted
                taken |= {names.get("plural", ""), names.get("singular", ""), *names.get("shortNames", ())}
                kinds |= {names.get("kind", ""), names.get("listKind", "")}
        return taken - {""}, kinds - {""}

    def waiting(self, group: str) -> list[str]:
        """Return the definitions of a group that lack some of the names they request."""
        lacking = (name for name, entry in self._entries.items() if entry.lacks_names)
        return sorted(name for name in lacking if name.partition(".")[2] == group)

    def _take(self, stored: Stored) -> None:
        name = stored.name
        before = self.present(name)
        if before is not None and before.uid != stored.uid:
            self._forget(name)
        entry = self._entry(name)
        if entry.present is not None and entry.present.revision == stored.revision and entry.fault is None:
            return
        entry.present, entry.fault = stored, None
        self._changed[name] = None
        try:
            definition = self._registry.outlines.of(stored)
            entry.accepted = definition.get("status", {}).get("acceptedNames", {})
            entry.lacks_names = definition["spec"]["names"] != entry.accepted
            if name in self._works:
                return
            if stored.size > LARGE:
                self._works[name] = asyncio.create_task(self._publish_off_loop(name))
            elif (plan := self._plan(stored, definition, digest(stored))) is not None:
                self._publish(plan)
        except FAULTS as e:
            self._failed(name, e)

    def _forget(self, name: str) -> None:
        """Stop serving a removed definition."""
        self._changed[name] = None
        # Last, as what is published names its objects.
        self._withdraw(name)
        del self._entries[name]

    def _failed(self, name: str, fault: BaseException) -> None:
        LOG.error("%s is not served as it says", name, exc_info=fault)
        self._entry(name).fault = fault
        self._clock.machine.later(RETRY_SECONDS, partial(self._again, name))

    def _again(self, name: str) -> None:
        entry = self._entries.get(name)
        if entry is not None and entry.fault is not None and entry.present is not None:
            self._take(entry.present)

    def _plan(self, stored: Stored, definition: Definition, spec: bytes) -> Plan | None:
        """Return the next state to publish for a definition, by the digest of its spec; None if it is published."""
        name = stored.name
        if not (holds(definition, "NamesAccepted") or holds(definition, "Established")):
            self._withdraw(name)
            return None
        names = definition["status"]["acceptedNames"]
        conditions = [holds(definition, kind) for kind in ("NamesAccepted", "Established", "Terminating")]
        state = spec + orjson.dumps([names, conditions])
        if (known := self._entry(name).known) is not None and known.state == state:
            return None
        form = spec + orjson.dumps(names)
        # Selectable values are read with defaults, which a schema may change.
        selects = any(v.get("selectableFields") for v in definition["spec"]["versions"])
        return Plan(stored, definition, state, form, spec if selects else b"")

    def _publish(self, plan: Plan) -> None:
        """Publish a definition, or begin to prepare it."""
        name = plan.stored.name
        if self._reselects(plan):
            self._works[name] = asyncio.create_task(self._publish_off_loop(name))
            return
        known = self._entry(name).known
        same = known is not None and known.form == plan.form
        # If only conditions changed, the representation is kept (`updateCustomResourceDefinition`).
        natives = known.natives if same and known else dict(self._registry.catalog.native.custom(plan.stored))
        webhook = self._webhook(name, plan.definition["spec"].get("conversion", {}))
        self._swap(plan, natives, webhook, resources(plan.definition, natives, webhook))

    def _reselects(self, plan: Plan) -> bool:
        """Report whether existing objects have other selectable values from now on."""
        before = self._entry(plan.stored.name).selectable
        if before is not None:
            return before != plan.selectable
        # The server that stored them may have used another state of the definition.
        return bool(plan.selectable) and not self._registry.storage.at_once

    async def _publish_off_loop(self, name: str) -> None:
        """Publish a definition off the loop; changes after completion are new work."""
        try:
            await self._make(name)
        except FAULTS as e:
            if self.present(name) is not None:
                self._failed(name, e)
        finally:
            del self._works[name]
            if self.present(name) is None and name in self._entries:
                self._webhook(name, {})
                del self._entries[name]

    async def _make(self, name: str) -> None:
        """Publish the latest state of a definition: it may be written again meanwhile."""
        form, natives = b"", dict[str, ResourceType]()
        known = self._entry(name).known
        if known is not None:
            form, natives = known.form, known.natives
        while (stored := self.present(name)) is not None:
            large = stored.size > LARGE
            spec = await run(digest, stored, pooled=large)
            if self.present(name) is not stored:
                continue
            plan = self._plan(stored, self._registry.outlines.of(stored), spec)
            if plan is None:
                return
            if form != plan.form:
                natives = dict(await run(self._registry.catalog.native.custom, stored, pooled=large))
                form = plan.form
            if self.present(name) is not stored:
                continue
            webhook = self._webhook(name, plan.definition["spec"].get("conversion", {}))
            made = resources(plan.definition, natives, webhook)
            if self._reselects(plan):
                instances = stored_resource(plan.definition, natives, webhook)
                collection = self._registry.collection(instances)
                if not collection.ready():
                    await collection.wait()
                await collection.reindex(instances.native)
                self._entry(name).selectable = plan.selectable
            if self.present(name) is stored:
                self._swap(plan, natives, webhook, made)
                return

    def _swap(
        self, plan: Plan, natives: dict[str, ResourceType], webhook: Webhook | None, made: list[Resource]
    ) -> None:
        """Publish the prepared state of a definition; streams of the former one end."""
        name = plan.stored.name
        entry = self._entry(name)
        known = entry.known
        instances = stored_resource(plan.definition, natives, webhook)
        entry.known = Known(plan.state, plan.form, natives)
        entry.selectable = plan.selectable
        entry.instances = instances
        shard = instances.storage
        if shard not in self._registry.strategies:
            self._registry.strategies[shard] = InstanceStrategy(self._registry, partial(self._instance_gone, name))
        # Followed from now on, if loading that is still required.
        self._registry.collection(instances)
        self._registry.catalog.replace(name, made)
        self._swapped(None if known is not None and known.form == plan.form else shard)

    def _webhook(self, name: str, conversion: dict[str, Any]) -> Webhook | None:
        """Return the conversion webhook of a definition; a former one closes after its last call."""
        entry = self._entry(name)
        old = entry.webhook
        if old is not None and old.conversion == conversion:
            return old
        if old is not None:
            entry.webhook = None
            old.retire()
        if conversion.get("strategy") != "Webhook":
            return None
        # Most definitions need none, and start without its modules.
        from hydrofoil.apiextensions.conversion import Webhook

        entry.webhook = Webhook(conversion, self._services, self._registry.chance)
        return entry.webhook

    def _withdraw(self, name: str) -> None:
        """Withdraw all resources of a definition."""
        entry = self._entry(name)
        if entry.known is not None:
            entry.known = None
            self._registry.catalog.replace(name, [])
            if entry.instances is not None:
                self._swapped(entry.instances.storage)
        self._webhook(name, {})
