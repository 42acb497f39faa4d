"""What controllers ask of the API: writes of objects (client-go's generated clients)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.runtime.fields import metadata
from hydrofoil.engine import ConversionError, Draft, Stored
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.replicas import Replicas
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write

MANAGER = "kube-controller-manager"
LEAVE_ALONE = "sim.hydrofoil/leave-alone"
"""The annotation of objects, and of namespaces for all in them, that no controller writes: a test plays its part."""
_MARK = LEAVE_ALONE.encode()
MERGE, STRATEGIC = "merge", "strategic"
Object = dict[str, Any]


class LeftAlone(Exception):
    """A write to an object that is left alone."""


class MakeWrite(Protocol):
    """What makes the writes of a controller (`Controller.write`)."""

    def __call__(
        self, resource: Resource, namespace: str, name: str = "", *, subresource: str = "", manager: str = ""
    ) -> Write:
        """Return a write."""


def has_mark(stored: Stored | None) -> bool:
    """Report whether an object says that it is left alone."""
    if stored is None:
        return False
    try:
        text = stored.json
    except ConversionError:
        text = stored.outline()
    # The name is looked for first: nearly no object has it, and decoding costs more than the search.
    return _MARK in text and (metadata(stored).get("annotations") or {}).get(LEAVE_ALONE) == "true"


class Client:
    """Writes of one controller: they pass admission as its user, and raise ApiError as those of any client.

    Objects that are left alone are not written: LeftAlone ends the work on a key.
    """

    def __init__(self, write: MakeWrite, registry: Registry, manager: str = MANAGER) -> None:
        self._write = write
        self._registry = registry
        self._manager = manager
        self._seen: tuple[Stored, bool] | None = None
        """The namespace that was looked at last, and whether it is left alone."""

    def check(self, stored: Stored | None, namespace: str) -> None:
        """Raise LeftAlone if an object, or all in its namespace, are left alone."""
        if has_mark(stored) or (namespace and self._is_marked(namespace)):
            raise LeftAlone

    def _is_marked(self, namespace: str) -> bool:
        found = self._registry.find("", "namespaces", "", namespace)
        if found is None:
            return False
        # The same version of a namespace has the same mark: most writes are in one namespace.
        if self._seen is None or self._seen[0].identity != found.identity:
            self._seen = found, has_mark(found)
        return self._seen[1]

    async def create(self, resource: Resource, namespace: str, body: Object | bytes) -> Stored:
        """Create an object from JSON or a value of it."""
        self.check(None, namespace)
        text = body if isinstance(body, bytes) else orjson.dumps(body)
        write = self._write(resource, namespace, manager=self._manager)
        stored = self._registry.create_at_once(resource, namespace, text, write)
        if stored is not None:
            return stored
        draft, _ = resource.native.decode(text, "json")
        return await self._registry.create(resource, namespace, draft, write)

    def replicas(self, resource: Resource, namespace: str, body: bytes) -> Replicas:
        """Return what creates many objects of one JSON under generated names."""

        def make() -> Write:
            self.check(None, namespace)
            return self._write(resource, namespace, manager=self._manager)

        return Replicas(self._registry, resource, namespace, body, make)

    async def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        change: Callable[[Draft], None],
        *,
        version: str = "",
        subresource: str = "",
    ) -> Stored:
        """Write the present object after a change.

        With `version`, the resource version of the object that the change was computed from, an object that has
        changed meanwhile is a conflict: ApiError 409, after which the key is processed again.
        """

        def apply(old: Stored) -> Draft:
            self.check(old, namespace)
            draft = old.thaw()
            change(draft)
            if version:
                draft.set(["metadata", "resourceVersion"], orjson.dumps(version))
            return draft

        return await self._apply(resource, namespace, name, apply, subresource)

    async def _apply(
        self, resource: Resource, namespace: str, name: str, change: Callable[[Stored], Draft], subresource: str
    ) -> Stored:
        """Write what a change makes of the present object; most writes are done at once."""
        write = self._write(resource, namespace, name, subresource=subresource, manager=self._manager)
        stored = self._registry.update_at_once(resource, namespace, name, change, write)
        return await self._registry.update(resource, namespace, name, change, write) if stored is None else stored

    async def update_status(
        self, resource: Resource, namespace: str, name: str, status: Object, *, version: str = ""
    ) -> Stored:
        """Replace the status of an object (`UpdateStatus`)."""
        data = orjson.dumps(status)
        return await self.update(
            resource,
            namespace,
            name,
            lambda draft: draft.set(["status"], data),
            version=version,
            subresource="status",
        )

    async def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        patch: Object,
        *,
        kind: str = STRATEGIC,
        subresource: str = "",
    ) -> Stored:
        """Patch an object; `kind` is STRATEGIC or MERGE."""
        data = orjson.dumps(patch)

        def apply(old: Stored) -> Draft:
            self.check(old, namespace)
            return old.patch(resource.native, kind, data)[0]

        return await self._apply(resource, namespace, name, apply, subresource)

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str | None = None,
        grace: int | None = None,
        policy: str | None = None,
        version: str | None = None,
    ) -> None:
        """Delete an object, or begin to; `uid` and `version` are preconditions, `policy` is that of propagation."""
        collection = self._registry.collection(resource)
        self.check(collection.get(resource.native, namespace, name), namespace)
        options = DeleteOptions(grace=grace, uid=uid, policy=policy, revision=version)
        await self._registry.delete(resource, namespace, name, options, self._write(resource, namespace, name))
