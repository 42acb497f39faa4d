"""Custom resource definitions: accepted names, serving, and the end of their instances.

What apiextensions-apiserver leaves to controllers of its own process (`pkg/controller/{status,establish,finalizer,
apiapproval}`) happens here as part of each write, so that a definition is served once its write is answered.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

from hydrofoil import engine
from hydrofoil.apis.custom import condition, holds, resources, stored_resource
from hydrofoil.errors import ApiError, invalid
from hydrofoil.registry.conversion import Webhook, bundle_problem, later
from hydrofoil.registry.strategies import naming
from hydrofoil.registry.strategies.apiservices import ApiServiceStrategy
from hydrofoil.registry.strategies.base import Step, Strategy, Undo, nothing, now
from hydrofoil.registry.strategies.naming import Condition, Definition, Taken
from hydrofoil.storage.backend import Conflict, Missing

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.engine import Draft, ResourceType, Stored
    from hydrofoil.registry.store import DeleteOptions, Registry

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

    async def after_delete(self, resource: Resource, old: Stored) -> None:
        if self.deleted is not None:
            self.deleted.set()


class DefinitionStrategy(Strategy):
    """Keeps the status of definitions and the catalog in step with their specs."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry)
        self.swapped: Callable[[tuple[str, str]], None] = lambda _: None
        """Called with the name of a shard when its resources have come, changed or gone: streams of old ones end."""
        self.services: dict[str, str] = {}
        """Where services that webhooks name are reached: `namespace/name` to `host:port`."""
        self._known: dict[str, tuple[bytes, dict[str, ResourceType]]] = {}
        self._selectable: dict[str, bytes] = {}
        self._instances: dict[str, Resource] = {}
        self._accepted: dict[str, dict[str, Any]] = {}
        self._waiting: set[str] = set()
        """Definitions that do not hold all names they want."""
        self._cleaners: dict[str, asyncio.Task[None]] = {}

    async def close(self) -> None:
        """Stops cleaning up, and lets the connections to webhooks go."""
        tasks = list(self._cleaners.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for webhook in self.registry.webhooks.values():
            await webhook.close()

    async def after_create(self, resource: Resource, stored: Stored) -> None:
        await self._register(stored)
        await self._settle(resource, stored.name)

    async def before_update(
        self, resource: Resource, old: Stored, draft: Draft, subresource: str, *, dry_run: bool
    ) -> Undo:
        """Refuses a caBundle that is none where one that is stood before (`allowInvalidCABundle`)."""
        bundle = [*(OLD_BUNDLE if resource.version == "v1beta1" else BUNDLE)]
        if (given := draft.get(bundle)) is not None and given != old.thaw().get(bundle):
            before: Definition = orjson.loads(old.json)
            text: str = orjson.loads(given)
            why = bundle_problem(base64.b64decode(text or ""))
            if why and holds(before, "Established") and not bundle_problem(naming.bundle(before)):
                at = "spec.conversion.webhookClientConfig.caBundle"
                cause = ("FieldValueInvalid", f'Invalid value: "{text}": {why}', at)
                raise invalid(resource.group, resource.kind, old.name, [cause])
        return nothing

    async def after_update(self, resource: Resource, old: Stored, stored: Stored) -> None:
        await self._register(stored)
        await self._settle(resource, stored.name)

    async def _register(self, stored: Stored, *, gone: bool = False) -> None:
        """Has the versions that a definition serves registered, be its names accepted or not."""
        services = self.registry.strategies["apiregistration.k8s.io", "apiservices"]
        assert isinstance(services, ApiServiceStrategy)
        spec = orjson.loads(stored.json)["spec"]
        served = [v["name"] for v in spec["versions"] if v["served"] and not gone]
        await services.define(stored.name, spec["group"], served)

    async def after_delete(self, resource: Resource, old: Stored) -> None:
        definition = orjson.loads(old.json)
        self._known.pop(old.name, None)
        self._selectable.pop(old.name, None)
        self._instances.pop(old.name, None)
        self._accepted.pop(old.name, None)
        self._waiting.discard(old.name)
        self._withdraw(definition, old.name)
        await self._register(old, gone=True)
        # It has freed its names.
        await self._settle_others(resource, definition["spec"]["group"], old.name)

    def begin_delete(self, draft: Draft, options: DeleteOptions) -> Step:
        _, deleted, _, finalizers = draft.lifecycle()
        if deleted:
            return super().begin_delete(draft, options)
        draft.set(["metadata", "finalizers"], orjson.dumps([*finalizers, FINALIZER]))
        draft.set(["metadata", "deletionTimestamp"], now())
        why = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
        naming.put(draft, ("Terminating", "True", "InstanceDeletionPending", why))
        return "mark"

    async def after_mark(self, resource: Resource, stored: Stored) -> None:
        await self._settle(resource, stored.name)

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
        self._publish(definition, stored)
        if "deletionTimestamp" in definition["metadata"] and FINALIZER in definition["metadata"].get("finalizers", ()):
            self._clean(resource, name)

    async def _settle_others(self, resource: Resource, group: str, name: str) -> None:
        """Looks again at the definitions of a group that have no names yet: one may have become free."""
        for other in sorted(self._waiting - {name}):
            if other.partition(".")[2] == group:
                await self._settle(resource, other)

    async def _write(self, resource: Resource, name: str, change: Callable[[Draft], None]) -> Stored | None:
        """Writes a status as the server's own; None when the definition has gone, be it by this very write."""
        collection = self.registry.collection(resource)
        while (old := collection.get(resource.native, "", name)) is not None:
            draft = old.thaw()
            change(draft)
            draft.begin_update(old, "status", MANAGER)
            try:
                if self.gone(draft):
                    await collection.delete(old)
                    await self.after_delete(resource, old)
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

    def _publish(self, definition: Definition, stored: Stored) -> None:
        """Serves what a definition says from now on; streams of what it said before end."""
        catalog, name = self.registry.catalog, stored.name
        shard = (definition["spec"]["group"], definition["spec"]["names"]["plural"])
        if not (holds(definition, "NamesAccepted") or holds(definition, "Established")):
            self._withdraw(definition, name)
            return
        spec, status = definition["spec"], definition["status"]
        conditions = [holds(definition, kind) for kind in ("NamesAccepted", "Established", "Terminating")]
        # Not from the decoded spec: a schema may be deeper than what can be written again here.
        parts = stored.thaw().get(["spec"]) or b"", orjson.dumps([status["acceptedNames"], conditions])
        state = hashlib.sha256(b"".join(parts)).digest()
        known = self._known.get(name)
        if known is not None and known[0] == state:
            return
        natives = dict(catalog.native.custom(stored))
        made = resources(definition, natives)
        self._known[name] = (state, natives)
        if shard not in self.registry.strategies:
            self.registry.strategies[shard] = InstanceStrategy(self.registry)
        self._instances[name] = stored_resource(definition, natives)
        self._convert(shard, spec.get("conversion", {}))
        catalog.replace(name, made)
        # What is selected by are values as they are read: with defaults, which a schema may change.
        selects = any(v.get("selectableFields") for v in spec["versions"])
        selectable = hashlib.sha256(parts[0]).digest() if selects else b""
        if self._selectable.get(name, selectable) != selectable:
            self.registry.collection(self._instances[name]).reindex(self._instances[name].native)
        self._selectable[name] = selectable
        self.swapped(shard)

    def _convert(self, shard: tuple[str, str], conversion: dict[str, Any]) -> None:
        """Has the objects of a shard converted as a definition says."""
        webhooks = self.registry.webhooks
        if (old := webhooks.pop(shard, None)) is not None:
            later(old)
        if conversion.get("strategy") == "Webhook":
            webhooks[shard] = Webhook(conversion, self.services)

    def _withdraw(self, definition: Definition, name: str) -> None:
        """Serves nothing of a definition any more."""
        spec = definition["spec"]
        self._convert((spec["group"], spec["names"]["plural"]), {})
        self._known.pop(name, None)
        self.registry.catalog.replace(name, [])
        self.swapped((spec["group"], spec["names"]["plural"]))

    def _clean(self, resource: Resource, name: str) -> None:
        """Begins to delete the instances of a definition that is being deleted."""
        if name not in self._cleaners:
            task = asyncio.create_task(self._cleanup(resource, name))
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
        await self._write(resource, name, lambda draft: naming.put(draft, progress))
        ended: Condition = ("Terminating", "False", "NeverEstablished", "resource was never established")
        if holds(definition, "Established"):
            while not await self._delete_instances(resource, self._instances[name], name):
                await asyncio.sleep(RETRY_SECONDS)
            ended = ("Terminating", "False", "InstanceDeletionCompleted", "removed all instances")

        def finish(draft: Draft) -> None:
            naming.put(draft, ended)
            kept = [f for f in draft.lifecycle()[3] if f != FINALIZER]
            draft.set(["metadata", "finalizers"], orjson.dumps(kept) if kept else None)

        if len(definition["metadata"]["finalizers"]) > 1:
            await asyncio.sleep(SEEN_SECONDS)
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
            await self._write(resource, name, lambda draft: naming.put(draft, failed))
            return False
        return True

    async def _empty(self, instances: Resource) -> None:
        from hydrofoil.registry.store import DeleteOptions

        strategy = self.registry.strategy(instances)
        assert isinstance(strategy, InstanceStrategy)
        gone = strategy.deleted = asyncio.Event()
        while left := self.registry.all(instances):
            gone.clear()
            for i, old in enumerate(left):
                try:
                    await self.registry.delete(instances, old.namespace, old.name, DeleteOptions())
                except ApiError as e:
                    if e.code not in (404, 409):
                        LOG.warning("%s: %s", instances.plural, e.message)
                if i % 100 == 99:
                    await asyncio.sleep(0)
            if self.registry.all(instances):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_SECONDS):
                        await gone.wait()


def strategies(registry: Registry) -> dict[tuple[str, str], Strategy]:
    """By group and resource."""
    return {("apiextensions.k8s.io", "customresourcedefinitions"): DefinitionStrategy(registry)}
