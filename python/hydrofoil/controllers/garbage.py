"""Garbage collection by owner references: background, foreground, orphan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from hydrofoil.aggregation.content import RemoteContent
from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.graph import Edges, Kind, Node, invalid_owner, parse_edges, read_edges
from hydrofoil.controllers.objects.memo import Memo
from hydrofoil.controllers.reach import Reach
from hydrofoil.controllers.remote_source import Receiver, RemoteSources
from hydrofoil.controllers.runtime.controller import Controller, Watch
from hydrofoil.controllers.runtime.fields import Metadata
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Stored
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer
from hydrofoil.registry.strategy import FOREGROUND, ORPHAN

if TYPE_CHECKING:
    from hydrofoil.controllers.runtime.recorder import EventRecorder

Found = Literal["solid", "waiting", "dangling"]
"""The state of an owner for a dependent: existing, waiting for its dependents to be deleted, or missing."""


class UnknownKind(Exception):
    """An owner of a kind that is not served: it may exist, but cannot be read."""


class InvalidOwner(Exception):
    """A cluster-scoped object with an owner in a namespace."""


class GarbageCollector(Controller):
    """Maintain the graph of owners and delete objects that have lost all owners."""

    name = "garbagecollector"
    user = service_account("generic-garbage-collector")

    def __init__(self, runtime: Runtime, remote: RemoteContent) -> None:
        """Take `remote` as the objects in other servers."""
        super().__init__(runtime)
        self._remote = remote
        self._reach = Reach(runtime.registry, remote, self.user, self.write)
        receiver = Receiver(self._on_remote, self._replace, self._forget_resource)
        self._remotes = RemoteSources(remote, self.user, runtime.registry.clock, receiver)
        self._events: EventRecorder | None = None
        """Made with the first event: most servers have none."""
        self._edges = Memo(parse_edges)
        self._texts: Memo[str, str] = Memo(str)
        self._nodes: dict[str, Node] = {}
        self._dependents: defaultdict[str, set[str]] = defaultdict(set)
        self._absent: dict[str, str] = {}
        """The namespaces of owners seen as missing, until the last of their dependents is deleted too.

        A uid is no proof that an owner stays missing: a restore brings an object back under the uid that it had."""
        self._unknown: dict[str, None] = {}
        """Objects with an owner of a kind that is not served."""

    def watches(self) -> Iterator[Watch]:
        seen: set[tuple[str, str]] = set()
        for resource in self.registry.catalog.resources():
            if "watch" in resource.verbs and "delete" in resource.verbs and resource.storage not in seen:
                if resource.storage == ("", "events"):
                    continue
                seen.add(resource.storage)
                yield resource, partial(self.on_object, resource)

    def start(self) -> None:
        self._remote.listen(self.discover)
        super().start()

    async def stop(self) -> None:
        self._remote.forget(self.discover)
        await super().stop()
        await self._remotes.stop()
        if self._events is not None:
            await self._events.close()

    def discover(self) -> None:
        """Watch resources that are not watched yet, and queue objects again that had an owner of an unknown kind."""
        super().discover()
        if not self._stopped:
            self._remotes.discover()
        if self._unknown:
            self.put("unknown", "")

    def on_object(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        """Apply a change of an object of this server."""
        if new is None:
            assert old is not None
            self._gone(old.uid)
            return
        edges, uid = self._edges(new.graph_members()), new.uid
        known = self._nodes.get(uid)
        # Most writes leave the graph unchanged.
        if known is None or known.edges is not edges:
            self._observe(resource, uid, self._texts(new.namespace), new.name, edges)

    def _on_remote(self, resource: Kind, kind: str, metadata: Metadata) -> None:
        """Apply an event of another server."""
        uid = str(metadata["uid"])
        if kind == "DELETED":
            self._gone(uid)
        else:
            namespace, name = str(metadata.get("namespace", "")), str(metadata["name"])
            self._observe(resource, uid, namespace, name, read_edges(metadata))

    def _replace(self, resource: Kind, present: set[str]) -> None:
        """Take out the objects of another server that are not among the present ones."""
        storage = resource.storage
        for uid in [u for u, node in self._nodes.items() if node.resource.storage == storage and u not in present]:
            self._gone(uid)

    def _observe(self, resource: Kind, uid: str, namespace: str, name: str, edges: Edges) -> None:
        """Bring the graph in step with an object, and queue what that concerns."""
        old = self._nodes.get(uid)
        if old is not None and old.edges == edges:
            return
        owners, finalizers = edges.owners, edges.finalizers
        node = Node(resource, namespace, name, edges)
        self._nodes[uid] = node
        self._absent.pop(uid, None)
        present = {owner["uid"] for owner in owners}
        for owner in old.owners if old else ():
            if owner["uid"] not in present:
                self._disown(owner["uid"], uid)
        for owner in present:
            self._dependents[owner].add(uid)
            self._look_at_owner(owner)
        if not all(self._is_known(node, owner) for owner in owners):
            self.put("item", uid)
        if node.deleting and (ORPHAN in finalizers or FOREGROUND in finalizers):
            self.put("owner", uid)
        if old is None and uid in self._dependents:
            # Dependents seen before it may refer to it in a namespace where it is not.
            self.put("dependents", uid)

    def _is_known(self, node: Node, owner: Mapping[str, Any]) -> bool:
        """Report whether an owner is in the graph as a dependent names it. Its end queues all its dependents."""
        known = self._nodes.get(owner["uid"])
        return (
            known is not None
            and not known.deleting
            and known.name == owner["name"]
            and known.resource.kind == owner["kind"]
            and known.resource.api_version == owner["apiVersion"]
            and known.namespace in ("", node.namespace)
        )

    def _disown(self, owner: str, uid: str) -> None:
        self._dependents[owner].discard(uid)
        if not self._dependents[owner]:
            del self._dependents[owner]
            self._absent.pop(owner, None)
        self._look_at_owner(owner)

    def _look_at_owner(self, owner: str) -> None:
        node = self._nodes.get(owner)
        if node is not None and node.deleting and FOREGROUND in node.finalizers:
            self.put("owner", owner)

    def _forget(self, uid: str) -> Node | None:
        """Take an object out of the graph."""
        node = self._nodes.pop(uid, None)
        self._unknown.pop(uid, None)
        for owner in {o["uid"] for o in node.owners} if node else ():
            self._disown(owner, uid)
        return node

    def _forget_resource(self, storage: tuple[str, str]) -> None:
        """Take the objects of a resource out of the graph; whether they exist is unknown, so none is absent."""
        for uid in [uid for uid, node in self._nodes.items() if node.resource.storage == storage]:
            self._forget(uid)

    def _gone(self, uid: str) -> None:
        node = self._forget(uid)
        if uid in self._dependents:
            self._absent[uid] = node.namespace if node else ""
            self.put("dependents", uid)

    async def work(self, key: tuple[str, ...]) -> bool:
        """Process an object as a dependent, or as an owner that is being deleted; or queue several."""
        what, uid = key
        if what == "dependents":
            return await self._put_all(self._dependents.get(uid, ()))
        if what == "unknown":
            unknown, self._unknown = self._unknown, {}
            return await self._put_all(unknown)
        node = self._nodes.get(uid)
        if node is None:
            return True
        try:
            return await (self._as_dependent(uid, node) if what == "item" else self._as_owner(uid, node))
        except UnknownKind:
            self._unknown[uid] = None
            return True
        except InvalidOwner:
            # As upstream: the object is kept, and checked again when it changes.
            return True
        except ApiError as e:
            # An object deleted meanwhile has an event of its own. One that was changed is tried again: most changes
            # leave the graph as it is, and queue nothing.
            return e.code == 404

    async def _put_all(self, uids: Iterable[str]) -> bool:
        """Queue objects: an owner may have as many dependents as there are objects, which no event has the time for."""
        pacer = Pacer()
        for uid in list(uids):
            self.put("item", uid)
            await pacer.pause()
        return True

    async def _owner(self, node: Node, owner: dict[str, Any]) -> Found:
        """Return the state of the owner of a reference (`attemptToDeleteItem`, `isDangling`), read from the store.

        Raise UnknownKind and InvalidOwner.
        """
        uid = owner["uid"]
        known = self._nodes.get(uid)
        if known is not None and known.namespace and known.namespace != node.namespace:
            self._tell_invalid(node, owner)
        if self._absent.get(uid) in ("", node.namespace):
            return "dangling"
        resource = self._reach.find(owner["apiVersion"], owner["kind"])
        if resource is None:
            raise UnknownKind
        if resource.namespaced and not node.namespace:
            raise InvalidOwner
        place = node.namespace if resource.namespaced else ""
        present = await self._reach.read(resource, place, owner["name"])
        if present is None:
            return "dangling"
        if known is not None and (known.resource.kind, known.namespace, known.name) == (
            resource.kind,
            place,
            owner["name"],
        ):
            return "waiting" if known.deleting and FOREGROUND in known.finalizers else "solid"
        if present.uid != uid:
            return "dangling"
        waits = present.member("deletionTimestamp") and FOREGROUND in (present.member("finalizers") or ())
        return "waiting" if waits else "solid"

    async def _present(self, node: Node, owners: Sequence[dict[str, Any]]) -> bool:
        """Report whether an object still has the known owners: the event of a change may be outstanding."""
        found = await self._reach.read(node.resource, node.namespace, node.name)
        if found is None:
            return False
        return {o["uid"] for o in found.member("ownerReferences") or ()} == {o["uid"] for o in owners}

    def _tell_invalid(self, node: Node, owner: dict[str, Any]) -> None:
        """Report, once, that an owner is in a namespace where a dependent cannot have it
        (`reportInvalidNamespaceOwnerRef`)."""
        if owner["uid"] in node.reported:
            return
        node.reported |= {owner["uid"]}
        uid = next((u for u in self._dependents[owner["uid"]] if self._nodes.get(u) is node), "")
        about, message = invalid_owner(node, uid, owner)
        from hydrofoil.controllers.runtime.recorder import WARNING

        if self._events is None:
            self._events = self.runtime.recorder("garbage-collector-controller", self.user)
        self._events.record(about, WARNING, "OwnerRefInvalidNamespace", message)

    async def _as_dependent(self, uid: str, node: Node) -> bool:
        if node.deleting or not node.owners:
            return True
        pacer = Pacer()
        found: dict[Found, list[str]] = {"solid": [], "waiting": [], "dangling": []}
        for owner in node.owners:
            found[await self._owner(node, owner)].append(owner["uid"])
            await pacer.pause()
        solid, waiting, dangling = found["solid"], found["waiting"], found["dangling"]
        if solid:
            if dangling or waiting:
                await self._drop_owners(node, {*dangling, *waiting})
            return True
        if not await self._present(node, node.owners):
            return True
        policy = "Background"
        if waiting and (dependents := self._dependents.get(uid)):
            # The owner waits for foreground deletion, so the dependents of this one are deleted first too.
            policy = "Foreground"
            if any(d.deleting and FOREGROUND in d.finalizers for u in dependents if (d := self._nodes.get(u))):
                # They may own each other in a cycle, in which each would wait for the next.
                await self._unblock(node)
        elif ORPHAN in node.finalizers:
            policy = "Orphan"
        elif FOREGROUND in node.finalizers:
            policy = "Foreground"
        await self._reach.delete(node, uid, policy)
        return True

    async def _as_owner(self, uid: str, node: Node) -> bool:
        if not node.deleting:
            return True
        pacer = Pacer()
        if ORPHAN in node.finalizers:
            for dependent in list(self._dependents.get(uid, ())):
                if found := self._nodes.get(dependent):
                    await self._orphan(found, uid)
                await pacer.pause()
            await self._reach.drop_finalizer(node, ORPHAN)
            return True
        if FOREGROUND not in node.finalizers:
            return True
        blocking = False
        for dependent in list(self._dependents.get(uid, ())):
            await pacer.pause()
            found = self._nodes.get(dependent)
            if found is None:
                continue
            if not found.deleting:
                self.put("item", dependent)
            if any(o["uid"] == uid and o.get("blockOwnerDeletion") for o in found.owners):
                blocking = True
        if not blocking:
            await self._reach.drop_finalizer(node, FOREGROUND)
        return True

    async def _orphan(self, node: Node, uid: str) -> None:
        """Remove an owner from a dependent, which may have been deleted meanwhile."""
        try:
            await self._drop_owners(node, {uid})
        except ApiError as e:
            if e.code != 404:
                raise

    async def _drop_owners(self, node: Node, uids: set[str]) -> None:
        await self._reach.change_owners(node, lambda owners: [o for o in owners if o["uid"] not in uids])

    async def _unblock(self, node: Node) -> None:
        """Clear the blocking flag of an object's owner references (`unblockOwnerReferencesStrategicMergePatch`)."""
        if any(o.get("blockOwnerDeletion") for o in node.owners):
            await self._reach.change_owners(node, lambda owners: [{**o, "blockOwnerDeletion": False} for o in owners])
