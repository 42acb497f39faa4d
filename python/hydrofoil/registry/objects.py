"""A reader of present objects."""

from __future__ import annotations

from collections.abc import AsyncIterator

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.clock import Clock, Pace
from hydrofoil.engine import ListCursor, Selector, Stored
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.view import Storage

BATCH = 128
"""How many objects a walk takes hold of at a time."""


def check_segment(name: str) -> None:
    """Raises 400 for a name that no key of the storage can have (`path.IsValidPathSegmentName`)."""
    why = [f"may not be '{name}'"] if name in (".", "..") else [f"may not contain '{c}'" for c in "/%" if c in name]
    if why:
        raise errors.bad_request(f'Name parameter invalid: "{name}": {";".join(why)}')


class Objects:
    """The objects of every resource, as they are now."""

    def __init__(self, catalog: Catalog, storage: Storage, clock: Clock) -> None:
        self.catalog = catalog
        self.storage = storage
        self.clock = clock
        self._collections: dict[tuple[str, str], Collection] = {}

    def collection(self, resource: Resource) -> Collection:
        """The objects of a resource."""
        found = self._collections.get(resource.storage)
        if found is None:
            found = self._collections[resource.storage] = self.storage.collection(resource.storage, resource.native)
        return found

    async def follow(self) -> None:
        """Follow all that is served where that has to be loaded. Raises what keeps the log from it."""
        if self.storage.direct:
            # History of a collection begins with its first use: an older version than that has expired.
            return
        for resource in self.catalog.resources():
            if "list" in resource.verbs:
                self.collection(resource)
        await self.storage.wait()

    def get(self, resource: Resource, namespace: str, name: str) -> Stored:
        """The present version of an object. Raises 404."""
        stored = self.collection(resource).get(resource.native, namespace, name)
        if stored is None:
            check_segment(name)
            raise errors.not_found(resource.group, resource.plural, name)
        return stored

    def find(self, group: str, plural: str, namespace: str, name: str) -> Stored | None:
        """The present version of an object of a built-in kind at `v1`, if there is one and the kind is served."""
        resource = self.catalog.find(group, "v1", plural)
        return None if resource is None else self.collection(resource).get(resource.native, namespace, name)

    def all(self, resource: Resource, namespace: str = "") -> list[Stored]:
        """Every object, for loops inside the server."""
        return self._cursor(resource, namespace).versions(2**31)

    def _cursor(self, resource: Resource, namespace: str) -> ListCursor:
        everything = Selector(resource.native, namespace, "", "")
        return self.collection(resource).list(resource.native, everything, "json", 0, 0, "")

    async def walk(self, resource: Resource, namespace: str = "", pace: Pace | None = None) -> AsyncIterator[Stored]:
        """Every object of this moment, with pauses, for loops inside the server that may be long."""
        pace = pace or Pace()
        cursor = self._cursor(resource, namespace)
        while batch := cursor.versions(BATCH):
            for stored in batch:
                await pace.rest()
                yield stored
