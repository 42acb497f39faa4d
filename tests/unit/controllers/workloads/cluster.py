"""Controllers of workloads over an empty store, whose pods a test plays."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.runtime.client import Client
from hydrofoil.controllers.runtime.controller import Controller
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.write import Write
from tests.unit.controllers.runtime.clusters import running
from tests.unit.parts import Object, draft, resource

PODS, EVENTS, NODES = resource("pods"), resource("events"), resource("nodes")
CONTAINERS = [{"name": "c", "image": "i"}]
Made = Callable[[Runtime], Controller]


def pod_template(labels: dict[str, str], **spec: Any) -> Object:
    """Return a template of pods."""
    return {"metadata": {"labels": labels}, "spec": {"containers": CONTAINERS, **spec}}


def write(*_: Any, subresource: str = "", **__: Any) -> Write:
    """Return a write of a test."""
    return Write(subresource=subresource)


class Cluster:
    """The controllers, and what a test does beside them."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.registry = runtime.registry
        self.clock = runtime.registry.clock
        self.client = Client(write, runtime.registry)

    async def create(self, of: Resource, body: Object, namespace: str = "a") -> Object:
        """Create an object, and let the controllers do what follows from it."""
        made = draft(of, {"apiVersion": of.api_version, "kind": of.kind, **body})
        stored = await self.registry.create(of, namespace if of.namespaced else "", made, Write())
        await self.runtime.idle()
        return self.get(of, stored.name, namespace)

    def get(self, of: Resource, name: str, namespace: str = "a") -> Object:
        """Return an object."""
        found: Object = json.loads(self.registry.get(of, namespace if of.namespaced else "", name).json)
        return found

    def all(self, of: Resource) -> list[Object]:
        """Return all objects of a resource, by their names."""
        return sorted(
            (json.loads(stored.json) for stored in self.registry.all(of)), key=lambda one: str(one["metadata"]["name"])
        )

    async def patch(self, of: Resource, name: str, patch: Object, subresource: str = "", namespace: str = "a") -> None:
        """Patch an object, and let the controllers do what follows from it."""
        await self._patch(of, name, patch, subresource, namespace)
        await self.runtime.idle()

    async def _patch(self, of: Resource, name: str, patch: Object, subresource: str, namespace: str) -> None:
        data = json.dumps(patch).encode()
        made = Write(subresource=subresource, patch=True)
        within = namespace if of.namespaced else ""
        await self.registry.update(of, within, name, lambda old: old.patch(of.native, "merge", data)[0], made)

    async def delete(self, of: Resource, name: str, *, grace: int | None = 0, namespace: str = "a") -> None:
        """Delete an object, and let the controllers do what follows from it."""
        options = DeleteOptions(grace=grace)
        await self.registry.delete(of, namespace if of.namespaced else "", name, options, Write())
        await self.runtime.idle()

    async def advance(self, seconds: float) -> None:
        """Move the clock, and let the controllers do what is due."""
        self.clock.advance(round(seconds * 1e9))
        await self.runtime.idle()

    async def bind(self, name: str, node: str, namespace: str = "a") -> None:
        """Bind a pod to a node, and let the controllers do what follows from it."""
        data = json.dumps({"spec": {"nodeName": node}}).encode()
        # The binding subresource is the only one that may.
        made = Write(patch=True, validates=False)
        await self.registry.update(PODS, namespace, name, lambda old: old.patch(PODS.native, "merge", data)[0], made)
        await self.runtime.idle()

    async def run(self, *names: str, ready: bool = True) -> None:
        """Let pods run, all of them by default."""
        for pod in self.all(PODS):
            meta = pod["metadata"]
            if meta["name"] not in names and (names or pod["status"]["phase"] != "Pending"):
                continue
            condition = {
                "type": "Ready",
                "status": "True" if ready else "False",
                "lastTransitionTime": self.clock.text(),
            }
            status = {"phase": "Running", "conditions": [condition]}
            await self._patch(PODS, meta["name"], {"status": status}, "status", meta["namespace"])
        await self.runtime.idle()

    def pods(self) -> list[str]:
        """Return the names of pods whose deletion has not begun."""
        return [pod["metadata"]["name"] for pod in self.all(PODS) if "deletionTimestamp" not in pod["metadata"]]

    def events(self, kind: str) -> list[str]:
        """Return the Events about objects of a kind, in their order."""
        stored = sorted(self.registry.all(EVENTS), key=lambda one: one.revision)
        events = (json.loads(one.json) for one in stored)
        return [
            f"{event['type']} {event['reason']}: {event['message']}"
            for event in events
            if event["involvedObject"]["kind"] == kind
        ]


@asynccontextmanager
async def controlled(makers: Sequence[Made]) -> AsyncIterator[Cluster]:
    """Yield a cluster with controllers, whose clock stands still."""
    async with running() as runtime:
        runtime.registry.clock.freeze()
        controllers = [make(runtime) for make in makers]
        for controller in controllers:
            controller.start()
        await runtime.idle()
        try:
            yield Cluster(runtime)
        finally:
            for controller in controllers:
                await controller.stop()
