"""Custom resource definitions: accepted names, serving, and the end of their instances.

What apiextensions-apiserver leaves to controllers of its own process (`pkg/controller/{status,establish,finalizer,
apiapproval}`) happens here as part of each write, so that a definition is served once its write is answered.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from hydrofoil import engine
from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.custom import condition, holds, resources, stored_resource
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, ResourceType, Stored
from hydrofoil.errors import ApiError, invalid
from hydrofoil.registry.conversion import Webhook, bundle_problem
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.outcome import Finish
from hydrofoil.registry.pool import LARGE, lasting, run
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategies import naming
from hydrofoil.registry.strategies.apiservices import ApiServiceStrategy
from hydrofoil.registry.strategies.base import Step, Strategy, now
from hydrofoil.registry.strategies.naming import Condition, Definition, Taken
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Conflict, Missing

LOG = logging.getLogger("hydrofoil")
BUNDLE = ("spec", "conversion", "webhook", "clientConfig", "caBundle")
OLD_BUNDLE = ("spec", "conversion", "webhookClientConfig", "caBundle")
"""Where `v1beta1` has it."""
FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
MANAGER = "kube-apiserver"
"""Who owns the status, as upstream names itself."""
RETRY_SECONDS = 1.0
SEEN_SECONDS = 0.15
"""How long a definition that others hold is seen to be terminating, as upstream's controller takes to get to it."""


class InstanceStrategy(Strategy):
    """Custom resources: nothing new while their definition goes."""

    deleted: asyncio.Event | None = None
    """Set whenever an instance has gone, where somebody waits for that."""

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        if new is None and self.deleted is not None:
            self.deleted.set()


@dataclass(slots=True, frozen=True)
class Known:
    """What was last published of a definition."""

    state: bytes
    """The hash of all that is served by."""
    form: bytes
    """The hash of what objects are shown by."""
    natives: dict[str, ResourceType]


class DefinitionStrategy(Strategy):
    """Keeps the status of definitions and the catalog in step with their specs."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry)
        self.registry = registry
        self.swapped: Callable[[tuple[str, str] | None], None] = lambda _: None
        """Called when resources have come, changed or gone: with the collection whose streams end, if they do."""
        self.services: dict[str, str] = {}
        """Where services that webhooks name are reached: `namespace/name` to `host:port`."""
        self._known: dict[str, Known] = {}
        self._selectable: dict[str, bytes] = {}
        self._instances: dict[str, Resource] = {}
        self._accepted: dict[str, dict[str, Any]] = {}
        self._waiting: set[str] = set()
        """Definitions that do not hold all names they want."""
        self._cleaners: dict[str, asyncio.Task[None]] = {}
        self._webhooks: dict[str, Webhook] = {}
        self._works: set[asyncio.Task[None]] = set()
        self._settled: dict[str, int] = {}
        """The revisions of definitions of which all is done."""

    async def close(self) -> None:
        """Stops cleaning up, and lets the connections to webhooks go."""
        tasks = [*self._cleaners.values(), *self._works]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for webhook in self._webhooks.values():
            await webhook.close()

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        if new is not None:
            await self._through(partial(self._written, resource, new.name))
        elif old is not None:
            await self._through(partial(self._forget, resource, old.name))

    async def _written(self, resource: Resource, name: str) -> None:
        """Register and serve what a definition says now, which may be more than the write that this follows."""
        stored = self.registry.collection(resource).get(resource.native, "", name)
        if stored is not None:
            await self._register(stored)
            await self._settle(resource, name)

    async def look(self, resource: Resource, name: str) -> None:
        """Do what a write left undone, if it did."""
        stored = self.registry.collection(resource).get(resource.native, "", name)
        if stored is None:
            if name in self._settled:
                await self._forget(resource, name)
        elif self._settled.get(name) != stored.revision:
            await self._written(resource, name)

    async def _through(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do work to its end, also when the client that began it goes away meanwhile.

        What a fault kept from its end is done in a while; the client is told of the fault.
        """
        task = asyncio.create_task(work())
        self._works.add(task)
        task.add_done_callback(partial(self._worked, work))
        await asyncio.shield(task)

    def _worked(self, work: Callable[[], Coroutine[Any, Any, None]], task: asyncio.Task[None]) -> None:
        self._works.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            LOG.error("a definition is not served as it says", exc_info=fault)
            again = asyncio.create_task(lasting(work, "the work on a definition", self.registry.clock))
            self._works.add(again)
            again.add_done_callback(self._works.discard)

    async def begin(self, write: Write, draft: Draft, old: Stored | None) -> Finish | None:
        """Refuses a caBundle that is none where one that is stood before (`allowInvalidCABundle`)."""
        if old is None:
            return None
        api_version, kind = draft.head()[:2]
        group, _, version = api_version.partition("/")
        bundle = [*(OLD_BUNDLE if version == "v1beta1" else BUNDLE)]
        if (given := draft.get(bundle)) is not None and given != old.thaw().get(bundle):
            before: Definition = orjson.loads(old.json)
            text: str = orjson.loads(given)
            why = bundle_problem(base64.b64decode(text or ""))
            if why and holds(before, "Established") and not bundle_problem(naming.bundle(before)):
                at = "spec.conversion.webhookClientConfig.caBundle"
                cause = ("FieldValueInvalid", f'Invalid value: "{text}": {why}', at)
                raise invalid(group, kind, old.name, [cause])
        return None

    @property
    def _services(self) -> ApiServiceStrategy:
        found = self.registry.strategies["apiregistration.k8s.io", "apiservices"]
        assert isinstance(found, ApiServiceStrategy)
        return found

    async def _register(self, stored: Stored) -> None:
        """Register the versions that a definition serves, be its names accepted or not."""
        spec = orjson.loads(stored.json)["spec"]
        await self._services.define(stored.name, spec["group"], [v["name"] for v in spec["versions"] if v["served"]])

    async def _forget(self, resource: Resource, name: str) -> None:
        """Serve nothing of a definition that has gone, unless another has taken its name by now."""
        if self.registry.collection(resource).get(resource.native, "", name) is not None:
            return
        group = name.partition(".")[2]
        self._selectable.pop(name, None)
        self._accepted.pop(name, None)
        self._waiting.discard(name)
        self._withdraw(name)
        self._instances.pop(name, None)
        await self._services.define(name, group, ())
        # It has freed its names.
        await self._settle_others(resource, group, name)
        self._settled.pop(name, None)

    def begin_delete(self, draft: Draft, options: DeleteOptions) -> Step:
        _, deleted, _, finalizers = draft.lifecycle()
        if deleted:
            return super().begin_delete(draft, options)
        draft.set(["metadata", "finalizers"], orjson.dumps([*finalizers, FINALIZER]))
        draft.set(["metadata", "deletionTimestamp"], now(self.registry.clock))
        why = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
        naming.put(draft, ("Terminating", "True", "InstanceDeletionPending", why), self.registry.clock)
        return "mark"

    async def after_mark(self, resource: Resource, stored: Stored) -> None:
        await self._through(partial(self._settle, resource, stored.name))

    async def _settle(self, resource: Resource, name: str) -> None:
        """Brings the status and the catalog in step with a definition."""
        # Whatever version it was written in, it is read in the one that is stored.
        resource = self.registry.catalog.find(resource.group, "v1", resource.plural) or resource
        collection = self.registry.collection(resource)
        stored = collection.get(resource.native, "", name)
        if stored is None:
            return
        definition = orjson.loads(stored.json)
        if not self._hold(name, definition):
            named = naming.names(definition, self._taken(definition["spec"]["group"]))
            stored = await self._write(resource, name, named) if named else stored
            if stored is None:
                return
            if named:
                definition = orjson.loads(stored.json)
                self._hold(name, definition)
                await self._settle_others(resource, definition["spec"]["group"], name)
        problem = None
        if definition["spec"].get("preserveUnknownFields") or condition(definition, naming.NONSTRUCTURAL):
            problem = self.registry.catalog.native.nonstructural(stored)
        steps = naming.establish, naming.approval, lambda d: naming.structural(d, problem)
        for step in steps:
            if (change := step(definition)) is not None:
                stored = await self._write(resource, name, change)
                if stored is None:
                    return
                definition = orjson.loads(stored.json)
        if not await self._publish(definition, stored):
            await self._settle(resource, name)
            return
        if "deletionTimestamp" in definition["metadata"] and FINALIZER in definition["metadata"].get("finalizers", ()):
            self._clean(resource, name)
        self._settled[name] = stored.revision

    async def _settle_others(self, resource: Resource, group: str, name: str) -> None:
        """Looks again at the definitions of a group that have no names yet: one may have become free."""
        for other in sorted(self._waiting - {name}):
            if other.partition(".")[2] == group:
                await self._settle(resource, other)

    async def _write(self, resource: Resource, name: str, change: naming.Change) -> Stored | None:
        """Writes a status as the server's own; None when the definition has gone, be it by this very write."""
        collection, clock = self.registry.collection(resource), self.registry.clock.native
        while (old := collection.get(resource.native, "", name)) is not None:
            draft = old.thaw()
            change(draft, self.registry.clock)
            draft.default(clock)
            draft.track(clock, MANAGER, old, "status")
            draft.keep_metadata(old)
            try:
                if self.gone(draft):
                    await collection.delete(old)
                    await self.after(resource, old, None)
                    return None
                return await collection.update(old, draft)
            except Conflict:
                continue
            except Missing:
                break
        return None

    def _taken(self, group: str) -> Taken:
        """The names of resources and of kinds that definitions of a group hold."""
        taken, kinds = set[str](), set[str]()
        for name, names in self._accepted.items():
            if name.partition(".")[2] == group:
                taken |= {names.get("plural", ""), names.get("singular", ""), *names.get("shortNames", ())}
                kinds |= {names.get("kind", ""), names.get("listKind", "")}
        return taken - {""}, kinds - {""}

    def _hold(self, name: str, definition: Definition) -> bool:
        """Remembers the names that a definition holds; whether they are those it wants."""
        accepted = definition["status"].get("acceptedNames", {})
        self._accepted[name] = accepted
        complete = bool(definition["spec"]["names"] == accepted)
        (self._waiting.discard if complete else self._waiting.add)(name)
        return complete

    async def _publish(self, definition: Definition, stored: Stored) -> bool:
        """Serve what a definition says from now on; streams of what it said before end.

        False when it was written again while the loop was left for large work: then it says something else by now.
        """
        catalog, name = self.registry.catalog, stored.name
        if not (holds(definition, "NamesAccepted") or holds(definition, "Established")):
            self._withdraw(name)
            return True
        spec, status = definition["spec"], definition["status"]
        conditions = [holds(definition, kind) for kind in ("NamesAccepted", "Established", "Terminating")]
        # Not from the decoded spec: a schema may be deeper than what can be written again here.
        parts = stored.thaw().get(["spec"]) or b"", orjson.dumps([status["acceptedNames"], conditions])
        state = hashlib.sha256(b"".join(parts)).digest()
        form = hashlib.sha256(b"".join((parts[0], orjson.dumps(status["acceptedNames"])))).digest()
        known = self._known.get(name)
        if known is not None and known.state == state:
            return True
        if same := known is not None and known.form == form:
            # Only conditions changed: what is shown stays as it is (`updateCustomResourceDefinition`).
            natives = known.natives
        else:
            natives = dict(await run(catalog.native.custom, stored, pooled=stored.size > LARGE))
        if not self._present(stored):
            return False
        webhook = self._webhook(name, spec.get("conversion", {}))
        made = await run(resources, definition, natives, webhook, pooled=stored.size > LARGE)
        instances = stored_resource(definition, natives, webhook)
        # What is selected by are values as they are read: with defaults, which a schema may change.
        selects = any(v.get("selectableFields") for v in spec["versions"])
        selectable = hashlib.sha256(parts[0]).digest() if selects else b""
        if self._selectable.get(name, selectable) != selectable:
            await self.registry.collection(instances).reindex(instances.native)
            if not self._present(stored):
                return False
        self._selectable[name] = selectable
        self._known[name] = Known(state, form, natives)
        self._instances[name] = instances
        shard = instances.storage
        if shard not in self.registry.strategies:
            self.registry.strategies[shard] = InstanceStrategy(self.registry)
        catalog.replace(name, made)
        self.swapped(None if same else shard)
        return True

    def _present(self, stored: Stored) -> bool:
        """Whether a definition is still as it was read."""
        resource = self.registry.catalog.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        if resource is None:
            return False
        found = self.registry.collection(resource).get(resource.native, "", stored.name)
        return found is not None and found.revision == stored.revision

    def _webhook(self, name: str, conversion: dict[str, Any]) -> Webhook | None:
        """The webhook that converts the objects of a definition from now on; a former one ends with its last call."""
        old = self._webhooks.get(name)
        if old is not None and old.conversion == conversion:
            return old
        if old is not None:
            self._webhooks.pop(name).retire()
        if conversion.get("strategy") != "Webhook":
            return None
        found = self._webhooks[name] = Webhook(conversion, self.services, self.registry.chance)
        return found

    def _withdraw(self, name: str) -> None:
        """Serve nothing of a definition any more."""
        self._known.pop(name, None)
        instances = self._instances.get(name)
        self.registry.catalog.replace(name, [])
        if instances is not None:
            self.swapped(instances.storage)
        self._webhook(name, {})

    def _clean(self, resource: Resource, name: str) -> None:
        """Begins to delete the instances of a definition that is being deleted."""
        if name not in self._cleaners:
            work = partial(self._cleanup, resource, name)
            task = asyncio.create_task(lasting(work, f"the clean-up of {name}", self.registry.clock))
            self._cleaners[name] = task
            task.add_done_callback(lambda _: self._cleaners.pop(name, None))

    async def _cleanup(self, resource: Resource, name: str) -> None:
        """`crd_finalizer.go`: the instances go first, then the finalizer."""
        stored = self.registry.collection(resource).get(resource.native, "", name)
        if stored is None:
            return
        definition = orjson.loads(stored.json)
        progress: Condition = (
            "Terminating",
            "True",
            "InstanceDeletionInProgress",
            "CustomResource deletion is in progress",
        )
        await self._write(resource, name, lambda draft, clock: naming.put(draft, progress, clock))
        ended: Condition = ("Terminating", "False", "NeverEstablished", "resource was never established")
        if holds(definition, "Established"):
            while not await self._delete_instances(resource, self._instances[name], name):
                await self.registry.clock.sleep(RETRY_SECONDS)
            ended = ("Terminating", "False", "InstanceDeletionCompleted", "removed all instances")

        def finish(draft: Draft, clock: Clock) -> None:
            naming.put(draft, ended, clock)
            kept = [f for f in draft.lifecycle()[3] if f != FINALIZER]
            draft.set(["metadata", "finalizers"], orjson.dumps(kept) if kept else None)

        if len(definition["metadata"]["finalizers"]) > 1:
            await self.registry.clock.sleep(SEEN_SECONDS)
        if await self._write(resource, name, finish) is not None:
            # While others hold it, objects may be created again: its condition says so.
            await self._settle(resource, name)

    async def _delete_instances(self, resource: Resource, instances: Resource, name: str) -> bool:
        """Deletes all instances and waits until the last has gone: finalizers may hold some. False when it fails."""
        try:
            await self._empty(instances)
        except engine.ConversionError as e:
            kind = f"{instances.api_version}, Kind={instances.kind}"
            why = f"could not list instances: storage is (re)initializing: failed to list {kind}: {e.args[1]}"
            failed: Condition = ("Terminating", "True", "InstanceDeletionFailed", why)
            await self._write(resource, name, lambda draft, clock: naming.put(draft, failed, clock))
            return False
        return True

    async def _empty(self, instances: Resource) -> None:
        strategy = self.registry.strategy(instances)
        assert isinstance(strategy, InstanceStrategy)
        gone = strategy.deleted = asyncio.Event()
        while self.registry.collection(instances).stats().objects:
            gone.clear()
            async for old in self.registry.walk(instances):
                try:
                    await self.registry.delete(instances, old.namespace, old.name, DeleteOptions(), Write())
                except ApiError as e:
                    if e.code not in (404, 409):
                        LOG.warning("%s: %s", instances.plural, e.message)
            if self.registry.collection(instances).stats().objects:
                await self.registry.clock.wait(gone, RETRY_SECONDS)
