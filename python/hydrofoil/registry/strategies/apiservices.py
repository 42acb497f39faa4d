"""API services: those of built-in groups and of definitions, kept as kube-apiserver keeps them.

What upstream leaves to controllers of its own process (`autoregister`, `crdregistration`, the local availability
controller) happens here as part of each write; whether a service answers is `controllers/availability`'s to find out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.registration import CUSTOM_PRIORITY, registration
from hydrofoil.clock import Clock, Pace
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategies.base import Strategy, now
from hydrofoil.registry.write import Write

LABEL = "kube-aggregator.kubernetes.io/automanaged"
MANAGER = "kube-apiserver"
LOCAL = ("True", "Local", "Local APIServices are always available")
Body = dict[str, Any]
Available = tuple[str, str, str]
"""Status, reason and message of the condition Available."""


def with_available(body: Body, available: Available, clock: Clock) -> Body | None:
    """The status of an API service with a condition; None when it says so already (`SetAPIServiceCondition`)."""
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


class ApiServiceStrategy(Strategy):
    """Keeps the table of API services in step with the objects, and the objects with the definitions."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry)
        self.registry = registry
        self._served: dict[str, tuple[str, frozenset[str]]] = {}
        """The group and the served versions of each definition, by its name."""
        self._unsynced: set[str] = set()
        """API services that are not known to be in step with definitions."""

    async def load(self) -> None:
        """Registers the built-in group versions, as `apiServicesToRegister` does: once, at the start."""
        catalog = self.registry.catalog
        for group, versions in catalog.groups.items():
            for version in versions:
                priorities = catalog.priorities.get(f"{group}/{version}" if group else version)
                if priorities is not None:
                    await self._create(group, version, priorities, "onstart")

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        if new is not None:
            await self._settle(resource, new)
        elif old is not None:
            self.registry.registrations.remove(old.name)
            await self._sync(old.name)

    async def _settle(self, resource: Resource, stored: Stored) -> None:
        body: Body = orjson.loads(stored.json)
        self.registry.registrations.put(registration(body))
        if body.get("spec", {}).get("service") is None:
            await self.tell(stored.name, LOCAL)
        await self._sync(stored.name)

    async def tell(self, name: str, available: Available) -> None:
        """Writes whether an API service is available, unless it says so already."""
        resource = self._resource()
        if resource is None or (old := self.registry.collection(resource).get(resource.native, "", name)) is None:
            return
        if with_available(orjson.loads(old.json), available, self.registry.clock) is None:
            return

        def change(present: Stored) -> Draft:
            draft = present.thaw()
            status = with_available(orjson.loads(present.json), available, self.registry.clock)
            if status is not None:
                draft.set(["status"], orjson.dumps(status))
            return draft

        try:
            await self.registry.update(resource, "", name, change, Write(manager=MANAGER, subresource="status"))
        except ApiError as e:
            if e.code != 404:
                raise

    async def define(self, name: str, group: str, versions: Iterable[str]) -> None:
        """Registers the served versions of a definition, and no more what it served before (`handleVersionUpdate`)."""
        before = self._served.pop(name, (group, frozenset()))
        after = frozenset(versions)
        if after:
            self._served[name] = (group, after)
        self._unsynced |= {f"{version}.{group}" for version in before[1] ^ after}
        pace = Pace()
        for found in sorted(self._unsynced):
            await pace.rest()
            await self._sync(found)
            self._unsynced.discard(found)

    def _resource(self) -> Resource | None:
        return self.registry.catalog.find("apiregistration.k8s.io", "v1", "apiservices")

    async def _sync(self, name: str) -> None:
        """Brings the API service of a group version of definitions in step with them (`checkAPIService`)."""
        resource = self._resource()
        if resource is None:
            return
        version, _, group = name.partition(".")
        wanted = any(group == g and version in served for g, served in self._served.values())
        stored = self.registry.collection(resource).get(resource.native, "", name)
        if stored is None:
            if wanted:
                await self._create(group, version, CUSTOM_PRIORITY, "true")
            return
        body: Body = orjson.loads(stored.json)
        if body["metadata"].get("labels", {}).get(LABEL) != "true":
            # Made by hand, or by a start: it is whoever's it is.
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
            draft.set(["spec"], orjson.dumps(spec))
            return draft

        await self.registry.update(resource, "", name, change, Write(manager=MANAGER))

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
                # 422: a definition may have a version that no API service may have; it has none then, as upstream.
                raise
