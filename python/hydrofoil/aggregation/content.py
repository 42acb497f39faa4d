"""Resources that other servers hold, as a controller finds them through discovery."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.aggregation.remote import Remote, RemoteClient
from hydrofoil.apis.registration import Registration
from hydrofoil.request import User

COLLECTED = frozenset(("delete", "list", "watch"))
"""The verbs of a resource that the collector follows (garbagecollector `GetDeletableResources`)."""


class RemoteContent:
    """The resources behind API services, and their objects."""

    def __init__(self, registrations: Registrations, client: RemoteClient) -> None:
        self._registrations = registrations
        self.client = client

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a function whenever the resources may have changed."""
        self._registrations.resource_listeners[listener] = None

    def forget(self, listener: Callable[[], None]) -> None:
        """End such calls."""
        self._registrations.resource_listeners.pop(listener, None)

    def versions(self) -> dict[str, list[str]]:
        """Return the versions of each registered group, the preferred one first."""
        return self._registrations.groups()

    def unknown(self) -> list[str]:
        """Return the group versions, `group/version`, whose resources are not known at present, in order."""
        found = self._registrations.remote.values()
        return sorted(f"{r.group}/{r.version}" for r in found if self._entry(r).get("freshness") != "Current")

    def resources(self, group: str, version: str) -> Iterator[Remote]:
        """Yield the namespaced resources of a group version whose objects can be deleted, if they are known."""
        registered = self._registrations.remote.get((group, version))
        if registered is not None and self._entry(registered).get("freshness") == "Current":
            yield from (r for r in self._reported(group, version) if r.namespaced and "delete" in r.verbs)

    def collected(self) -> Iterator[Remote]:
        """Yield each resource of which the collector follows the objects, at the preferred version that has it.

        The last report of a server that does not respond still holds.
        """
        seen: set[tuple[str, str]] = set()
        for group, versions in self.versions().items():
            for version in versions:
                for remote in self._reported(group, version):
                    if remote.verbs >= COLLECTED and remote.storage not in seen:
                        seen.add(remote.storage)
                        yield remote

    def find(self, group: str, version: str, kind: str) -> Remote | None:
        """Return the resource of a kind."""
        return next((r for r in self._reported(group, version) if r.kind == kind and "get" in r.verbs), None)

    def _reported(self, group: str, version: str) -> Iterator[Remote]:
        """Yield the resources that a server last reported, if one has the group version."""
        registered = self._registrations.remote.get((group, version))
        if registered is None:
            return
        for found in self._entry(registered).get("resources") or ():
            kind = (found.get("responseKind") or {}).get("kind", "")
            namespaced = found.get("scope") == "Namespaced"
            yield Remote(registered, found["resource"], kind, namespaced, frozenset(found.get("verbs") or ()))

    def _entry(self, registered: Registration) -> dict[str, Any]:
        return self._registrations.discovered.get(registered.name, {})

    async def delete(self, remote: Remote, namespace: str, user: User) -> None:
        """Delete all objects of a resource in a namespace (`deleteCollection`, `deleteEachItem`). Raise ApiError."""
        if "deletecollection" in remote.verbs and await self.client.delete(remote, namespace, "", user):
            return
        for metadata in await self.left(remote, namespace, user):
            await self.client.delete(remote, namespace, str(metadata["name"]), user)

    async def left(self, remote: Remote, namespace: str, user: User) -> list[dict[str, Any]]:
        """Return the metadata of the objects of a resource in a namespace. Raise ApiError."""
        return (await self.client.items(remote, namespace, user))[1] if "list" in remote.verbs else []
