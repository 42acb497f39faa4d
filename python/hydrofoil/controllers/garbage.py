"""Garbage collection by owner references: background, foreground, orphan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.base import Controller
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.store import DeleteOptions
from hydrofoil.registry.strategies.base import FOREGROUND, ORPHAN


@dataclass(slots=True)
class Node:
    """One object of the graph."""

    resource: Resource
    namespace: str
    name: str
    owners: list[dict[str, Any]] = field(default_factory=list)
    finalizers: list[str] = field(default_factory=list)
    deleting: bool = False


class GarbageCollector(Controller):
    """Keeps the graph of owners and deletes what nobody owns any more."""

    def __init__(self, registry: Any, hub: Any) -> None:
        super().__init__(registry, hub)
        self._nodes: dict[str, Node] = {}
        self._dependents: defaultdict[str, set[str]] = defaultdict(set)

    def resources(self) -> Iterable[Resource]:
        seen: set[tuple[str, str]] = set()
        for resource in self.registry.catalog.resources():
            if "watch" in resource.verbs and "delete" in resource.verbs and resource.storage not in seen:
                if resource.plural == "events":
                    continue
                seen.add(resource.storage)
                yield resource

    def event(self, resource: Resource, kind: str, metadata: dict[str, object]) -> None:
        uid = str(metadata["uid"])
        if kind == "DELETED":
            self._gone(uid)
            return
        owners: list[dict[str, Any]] = metadata.get("ownerReferences", [])  # type: ignore[assignment]
        finalizers: list[str] = metadata.get("finalizers", [])  # type: ignore[assignment]
        old = self._nodes.get(uid)
        deleting = "deletionTimestamp" in metadata
        if old is not None and (old.owners, old.finalizers, old.deleting) == (owners, finalizers, deleting):
            # Most writes change nothing of the graph.
            return
        node = Node(
            resource,
            str(metadata.get("namespace", "")),
            str(metadata["name"]),
            owners,
            finalizers,
            deleting,
        )
        self._nodes[uid] = node
        for owner in old.owners if old else ():
            if owner["uid"] not in {o["uid"] for o in owners}:
                self._disown(owner["uid"], uid)
        for owner in owners:
            self._dependents[owner["uid"]].add(uid)
        if owners:
            self.put("item", uid)
            for owner in owners:
                self._look_at_owner(owner["uid"])
        if node.deleting and (ORPHAN in finalizers or FOREGROUND in finalizers):
            self.put("owner", uid)

    def _disown(self, owner: str, uid: str) -> None:
        self._dependents[owner].discard(uid)
        if not self._dependents[owner]:
            del self._dependents[owner]
        self._look_at_owner(owner)

    def _look_at_owner(self, owner: str) -> None:
        node = self._nodes.get(owner)
        if node is not None and node.deleting and FOREGROUND in node.finalizers:
            self.put("owner", owner)

    def _gone(self, uid: str) -> None:
        node = self._nodes.pop(uid, None)
        for owner in node.owners if node else ():
            self._disown(owner["uid"], uid)
        for dependent in self._dependents.get(uid, ()):
            self.put("item", dependent)

    async def work(self, key: tuple[str, ...]) -> bool:
        """Works on an object as a dependent or as an owner that is being deleted."""
        what, uid = key
        node = self._nodes.get(uid)
        if node is None:
            return True
        try:
            return await (self._as_dependent(uid, node) if what == "item" else self._as_owner(uid, node))
        except ApiError as e:
            # What has gone or changed meanwhile comes back with its own event.
            return e.code in (404, 409)

    def _alive(self, node: Node, owner: dict[str, Any]) -> Node | None:
        """The owner of a reference, if it exists with that uid where a dependent may have it."""
        found = self._nodes.get(owner["uid"])
        if found is None:
            return None
        reachable = found.namespace in ("", node.namespace)
        return found if reachable and found.name == owner["name"] else None

    async def _as_dependent(self, uid: str, node: Node) -> bool:
        if node.deleting or not node.owners:
            return True
        solid, waiting, dangling = [], [], []
        for owner in node.owners:
            found = self._alive(node, owner)
            if found is None:
                dangling.append(owner["uid"])
            elif found.deleting and FOREGROUND in found.finalizers:
                waiting.append(owner["uid"])
            else:
                solid.append(owner["uid"])
        if solid:
            if dangling or waiting:
                await self._drop_owners(node, {*dangling, *waiting})
            return True
        policy = "Background"
        if waiting and self._dependents.get(uid):
            # The owner waits in the foreground, so the dependents of this one go first too.
            policy = "Foreground"
        elif ORPHAN in node.finalizers:
            policy = "Orphan"
        elif FOREGROUND in node.finalizers:
            policy = "Foreground"
        await self.registry.delete(self._served(node), node.namespace, node.name, DeleteOptions(uid=uid, policy=policy))
        return True

    async def _as_owner(self, uid: str, node: Node) -> bool:
        if not node.deleting:
            return True
        if ORPHAN in node.finalizers:
            for dependent in list(self._dependents.get(uid, ())):
                if found := self._nodes.get(dependent):
                    await self._drop_owners(found, {uid})
            await self._drop_finalizer(node, ORPHAN)
            return True
        if FOREGROUND not in node.finalizers:
            return True
        blocking = False
        for dependent in list(self._dependents.get(uid, ())):
            found = self._nodes.get(dependent)
            if found is None:
                continue
            if not found.deleting:
                self.put("item", dependent)
            if any(o["uid"] == uid and o.get("blockOwnerDeletion") for o in found.owners):
                blocking = True
        if not blocking:
            await self._drop_finalizer(node, FOREGROUND)
        return True

    def _served(self, node: Node) -> Resource:
        return self.registry.catalog.present(node.resource)

    async def _drop_owners(self, node: Node, uids: set[str]) -> None:
        def change(old: Stored) -> Draft:
            draft = old.thaw()
            owners = orjson.loads(draft.get(["metadata", "ownerReferences"]) or b"[]")
            kept = [o for o in owners if o["uid"] not in uids]
            draft.set(["metadata", "ownerReferences"], orjson.dumps(kept) if kept else None)
            return draft

        await self.registry.update(self._served(node), node.namespace, node.name, change, warnings=[])

    async def _drop_finalizer(self, node: Node, finalizer: str) -> None:
        def change(old: Stored) -> Draft:
            draft = old.thaw()
            kept = [f for f in draft.lifecycle()[3] if f != finalizer]
            draft.set(["metadata", "finalizers"], orjson.dumps(kept) if kept else None)
            return draft

        await self.registry.update(self._served(node), node.namespace, node.name, change, warnings=[])
