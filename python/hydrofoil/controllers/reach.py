"""The objects of the garbage collector's graph: those of this server, and those that others hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import orjson

from hydrofoil.aggregation.content import RemoteContent
from hydrofoil.aggregation.remote import Remote
from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.graph import Kind, Node
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.request import User

Owners = list[dict[str, Any]]


class Present(NamedTuple):
    """An object as it is now."""

    uid: str
    member: Callable[[str], Any]
    """Decode a member of its metadata; None without it. Most looks at an owner need only its uid."""


class WriteOf(Protocol):
    """Make a write of the collector."""

    def __call__(self, resource: Resource, namespace: str, name: str = "") -> Write: ...


class Reach:
    """Read, change and delete objects, wherever they are."""

    def __init__(self, registry: Registry, remote: RemoteContent, user: User, write: WriteOf) -> None:
        self._registry = registry
        self._remote = remote
        self._user = user
        self._write = write

    def find(self, api_version: str, kind: str) -> Kind | None:
        """Return the resource of a kind; None if no server has it."""
        group, _, version = api_version.rpartition("/")
        return self._registry.catalog.by_kind.get((group, version, kind)) or self._remote.find(group, version, kind)

    async def read(self, kind: Kind, namespace: str, name: str) -> Present | None:
        """Return an object; None if it is absent. Raise ApiError."""
        if isinstance(kind, Remote):
            metadata = await self._remote.client.read(kind, namespace, name, self._user)
            if metadata is None:
                return None
            return Present(str(metadata.get("uid", "")), metadata.get)
        stored = self._registry.collection(kind).get(kind.native, namespace, name)
        if stored is None:
            return None
        return Present(stored.uid, lambda name: orjson.loads(stored.thaw().get(["metadata", name]) or b"null"))

    async def delete(self, node: Node, uid: str, policy: str) -> None:
        """Delete an object unless its uid is another one by now. Raise ApiError."""
        if isinstance(node.resource, Remote):
            await self._remote.client.delete(
                node.resource, node.namespace, node.name, self._user, policy=policy, uid=uid
            )
            return
        resource = self._registry.catalog.present(node.resource)
        write = self._write(resource, node.namespace, node.name)
        options = DeleteOptions(uid=uid, policy=policy)
        await self._registry.delete(resource, node.namespace, node.name, options, write)

    async def change_owners(self, node: Node, make: Callable[[Owners], Owners]) -> None:
        """Replace the owners of an object. Raise ApiError."""
        await self._change(node, "ownerReferences", make)

    async def drop_finalizer(self, node: Node, finalizer: str) -> None:
        """Remove a finalizer of an object. Raise ApiError."""
        await self._change(node, "finalizers", lambda finalizers: [f for f in finalizers if f != finalizer])

    async def _change(self, node: Node, member: str, make: Callable[[list[Any]], list[Any]]) -> None:
        if isinstance(node.resource, Remote):
            client = self._remote.client
            metadata = await client.read(node.resource, node.namespace, node.name, self._user)
            if metadata is not None:
                # The version must still be this one, so that no change is lost (`deleteOwnerRefJSONMergePatch`).
                made: dict[str, Any] = {k: metadata[k] for k in ("uid", "resourceVersion") if k in metadata}
                made[member] = make(metadata.get(member) or [])
                await client.patch(node.resource, node.namespace, node.name, made, self._user)
            return

        def change(old: Stored) -> Draft:
            draft = old.thaw()
            made = make(orjson.loads(draft.get(["metadata", member]) or b"[]"))
            draft.set(["metadata", member], orjson.dumps(made) if made else None)
            return draft

        resource = self._registry.catalog.present(node.resource)
        write = self._write(resource, node.namespace, node.name)
        await self._registry.update(resource, node.namespace, node.name, change, write)
