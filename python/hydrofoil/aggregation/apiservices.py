"""API services of built-in groups and of definitions, kept in step as kube-apiserver does.

Upstream leaves this to controllers in its own process (`autoregister`, `crdregistration`, the local availability
controller). Here it is a queue of names that writes wait for; `aggregation/availability` probes remote services.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import orjson

from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.aggregation.wanted import Wanted, services_of
from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.registration import CUSTOM_PRIORITY, registration
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategy import Strategy, now
from hydrofoil.registry.write import Write
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub
from hydrofoil.watch.queue import Key, Queue

LABEL = "kube-aggregator.kubernetes.io/automanaged"
MANAGER = "kube-apiserver"
LOCAL = ("True", "Local", "Local APIServices are always available")
Body = dict[str, Any]
Available = tuple[str, str, str]
"""Status, reason and message of the condition Available."""


def with_available(body: Body, available: Available, clock: Clock) -> Body | None:
    """Return the status of an API service with a condition; None if it is unchanged (`SetAPIServiceCondition`)."""
    status, reason, message = available
    given: Body = body.get("status", {})
    conditions: list[Body] = list(given.get("conditions") or ())
    at = next((i for i, c in enumerate(conditions) if c["type"] == "Available"), None)
    found: Body = {"type": "Available", "status": status, "lastTransitionTime": orjson.loads(now(clock))}
    if at is not None:
        old = conditions[at]
        if old["status"] == status:
            found["lastTransitionTime"] = old["lastTransitionTime"]
        conditions.pop(at)
    found |= {"reason": reason, "message": message}
    if at is not None and old == found:
        return None
    conditions.insert(len(conditions) if at is None else at, found)
    return {**given, "conditions": conditions}


def managed(body: Body) -> bool:
    """Report whether an API service is kept in step with definitions."""
    return bool(body["metadata"].get("labels", {}).get(LABEL) == "true")


class ApiServices:
    """The API services that the server manages itself, and the availability of those it serves.

    Safe to run in several servers over one log: each service is processed from its present state.
    """

    def __init__(self, registry: Registry, registrations: Registrations, hub: Hub, clock: Clock) -> None:
        self.registry = registry
        self.queue = Queue("the work on API services", self._work, clock, registry.activity)
        self._wanted = Wanted(registry.outlines)
        self.followed: list[Followed[Any]] = []
        """The states brought up to the view before they are read."""
        self.outages: Counter[tuple[str, str]] = Counter()
        """How often each service was no longer available, by name and reason (`SetUnavailableCounter`)."""
        self._definitions: Followed[Wanted] | None = None
        if (resource := self._resource()) is not None:
            followed = Followed(registry.collection(resource), resource.native, registrations, hub)
            followed.on_change(registrations.report)
            registrations.listeners.append(lambda name, _: self.queue.put((name,)))
            self.followed.append(followed)
            if (defined := registry.catalog.collected("apiextensions.k8s.io", "customresourcedefinitions")) is not None:
                self._definitions = Followed(registry.collection(defined), defined.native, self._wanted, hub)
                self._definitions.on_change(self._put_changed)
                self.followed.append(self._definitions)

    async def close(self) -> None:
        """Stop the work."""
        await self.queue.close()
        for followed in self.followed:
            followed.end()

    def _resource(self) -> Resource | None:
        return self.registry.catalog.find("apiregistration.k8s.io", "v1", "apiservices")

    def _put_changed(self) -> None:
        for name in self._wanted.changed():
            self.queue.put((name,))

    async def load(self) -> None:
        """Register the built-in group versions, as `apiServicesToRegister` does: once, at the start."""
        catalog = self.registry.catalog
        for group, versions in catalog.groups.items():
            for version in versions:
                priorities = catalog.priorities.get(f"{group}/{version}" if group else version)
                if priorities is not None:
                    await self._create(group, version, priorities, "onstart")

    async def written(self, name: str) -> None:
        """Wait until the consequences of the write of an API service are done."""
        await self.queue.done((name,))

    async def defined(self, old: Stored | None, new: Stored | None) -> None:
        """Wait until the API services of a written definition exist, and those it no longer has are removed."""
        if self._definitions is not None:
            outlines = [self.registry.outlines.of(stored) for stored in (old, new) if stored is not None]
            names = sorted({name for outline in outlines for name in services_of(outline)})
            await asyncio.gather(*(self.queue.done((name,)) for name in names))

    async def _work(self, key: Key) -> bool:
        """Bring one API service in step with definitions, and mark it available if it is served here."""
        await self._sync(key[0])
        resource = self._resource()
        stored = resource and self.registry.collection(resource).get(resource.native, "", key[0])
        if stored and orjson.loads(stored.json).get("spec", {}).get("service") is None:
            await self.report(key[0], LOCAL)
        return True

    async def report(self, name: str, available: Available) -> None:
        """Write the availability of an API service if it has changed."""
        resource = self._resource()
        if resource is None or (old := self.registry.collection(resource).get(resource.native, "", name)) is None:
            return
        body = orjson.loads(old.json)
        if with_available(body, available, self.registry.clock) is None:
            return

        def change(present: Stored) -> Draft:
            draft = present.thaw()
            status = with_available(orjson.loads(present.json), available, self.registry.clock)
            if status is not None:
                draft.set(["status"], orjson.dumps(status))
            return draft

        try:
            await self.registry.update(
                resource, "", name, change, Write(manager=MANAGER, subresource="status", patch=True)
            )
        except ApiError as e:
            if e.code != 404:
                raise
            return
        if available[0] != "True" and registration(body).available:
            self.outages[name, available[1]] += 1

    async def _sync(self, name: str) -> None:
        """Bring the API service of a group version of definitions in step with them (`checkAPIService`)."""
        resource = self._resource()
        if resource is None:
            return
        version, _, group = name.partition(".")
        wanted = self._definitions is not None and self._definitions.state.wants(name)
        stored = self.registry.collection(resource).get(resource.native, "", name)
        if stored is None:
            if wanted:
                await self._create(group, version, CUSTOM_PRIORITY, "true")
            return
        body: Body = orjson.loads(stored.json)
        if not managed(body):
            # Created by hand or at the start: not managed here.
            return
        if not wanted:
            await self._delete(resource, name, stored.uid)
        elif body["spec"] != (spec := self._spec(group, version, CUSTOM_PRIORITY)):
            await self._restore(resource, name, spec)

    async def _delete(self, resource: Resource, name: str, uid: str) -> None:
        try:
            await self.registry.delete(resource, "", name, DeleteOptions(uid=uid), Write())
        except ApiError as e:
            if e.code not in (404, 409):
                raise

    async def _restore(self, resource: Resource, name: str, spec: Body) -> None:
        def change(present: Stored) -> Draft:
            draft = present.thaw()
            if managed(orjson.loads(present.json)):
                draft.set(["spec"], orjson.dumps(spec))
            return draft

        try:
            await self.registry.update(resource, "", name, change, Write(manager=MANAGER, patch=True))
        except ApiError as e:
            if e.code != 404:
                raise
            # It was deleted meanwhile: create it anew.
            self.queue.put((name,))

    @staticmethod
    def _spec(group: str, version: str, priorities: tuple[int, int]) -> Body:
        spec: Body = {"group": group} if group else {}
        return spec | {"version": version, "groupPriorityMinimum": priorities[0], "versionPriority": priorities[1]}

    async def _create(self, group: str, version: str, priorities: tuple[int, int], managed: str) -> None:
        resource = self._resource()
        if resource is None:
            return
        metadata = {"name": f"{version}.{group}", "labels": {LABEL: managed}}
        body = {
            "kind": resource.kind,
            "apiVersion": resource.api_version,
            "metadata": metadata,
            "spec": self._spec(group, version, priorities),
        }
        draft, _ = resource.native.decode(orjson.dumps(body), "json")
        try:
            await self.registry.create(resource, "", draft, Write(manager=MANAGER))
        except ApiError as e:
            if e.code not in (409, 422):
                # 422: a definition may have a version name that no API service allows; it has no service then.
                raise


class ApiServiceStrategy(Strategy):
    """Make the write of an API service wait for its consequences."""

    def __init__(self, services: ApiServices) -> None:
        super().__init__(services.registry)
        self._services = services

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        if (stored := new or old) is not None:
            await self._services.written(stored.name)
