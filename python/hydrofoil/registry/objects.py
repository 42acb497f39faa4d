"""Reads of present objects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.clock import Clock
from hydrofoil.engine import ListCursor, Selector, Stored
from hydrofoil.pace.pacer import Pacer
from hydrofoil.pool import run
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.storage import Storage
from hydrofoil.watch.activity import Activity

BATCH = 128
"""The number of objects that a walk reads at a time."""


def check_segment(name: str) -> None:
    """Raise ApiError 400 for a name that is not a valid path segment (`path.IsValidPathSegmentName`)."""
    why = [f"may not be '{name}'"] if name in (".", "..") else [f"may not contain '{c}'" for c in "/%" if c in name]
    if why:
        raise errors.bad_request(f'Name parameter invalid: "{name}": {";".join(why)}')


class Objects:
    """The objects of every resource, at their present versions."""

    def __init__(self, catalog: Catalog, storage: Storage, clock: Clock) -> None:
        self.catalog = catalog
        self.storage = storage
        self.clock = clock
        self.activity = Activity()
        """Who has work beside requests: the queues of controllers, of definitions and of API services."""
        self._collections: dict[tuple[str, str], Collection] = {}

    def collection(self, resource: Resource) -> Collection:
        """Return the objects of a resource."""
        found = self._collections.get(resource.storage)
        if found is None:
            found = self._collections[resource.storage] = self.storage.collection(resource.storage, resource.native)
        return found

    def forget(self, name: tuple[str, str]) -> None:
        """Follow a collection no more, and free its objects."""
        if self._collections.pop(name, None) is not None:
            self.storage.forget(name)

    async def follow(self) -> None:
        """Follow all served resources, if they must be loaded. Raise the log's error."""
        if self.storage.is_loaded:
            # History of a collection begins with its first use: older versions have expired.
            return
        for resource in self.catalog.resources():
            if "list" in resource.verbs:
                self.collection(resource)
        await self.storage.loaded()
        await self.storage.wait()

    def get(self, resource: Resource, namespace: str, name: str) -> Stored:
        """Return the present version of an object. Raise ApiError 404, or 500 if its stored value cannot be read."""
        collection = self.collection(resource)
        stored = collection.get(resource.native, namespace, name)
        if stored is None:
            check_segment(name)
            raise errors.not_found(resource.group, resource.plural, name)
        return stored

    async def read(self, resource: Resource, namespace: str, name: str) -> Stored:
        """Return the present version of an object in the requested version. Raise ApiError as `get`, and `convert`."""
        stored = self.get(resource, namespace, name)
        if resource.webhook is not None:
            await self.convert(resource, [stored])
        return stored

    async def select(
        self, resource: Resource, selector: Selector, form: str, limit: int, revision: int, start: str
    ) -> ListCursor:
        """Return a list in the requested version. Raise Expired, Future, and ApiError as `convert`."""
        cursor = self.collection(resource).list(resource.native, selector, form, limit, revision, start)
        if resource.webhook is not None:
            # Field selectors may depend on a conversion: then more objects may remain.
            while pending := await run(cursor.pending, pooled=not cursor.short()):
                await self.convert(resource, pending)
        return cursor

    async def convert(self, resource: Resource, stored: list[Stored]) -> None:
        """Convert objects to the requested version, if a webhook does that. Raise ApiError 500.

        The result is kept beside each version, so that it is made once.
        """
        if resource.webhook is not None and stored:
            await resource.webhook.to_request_version(stored, resource.api_version)

    def converter(self, resource: Resource) -> Callable[[list[Stored]], Awaitable[None]] | None:
        """Return the conversion of objects to the requested version for a stream; None if no webhook does it."""
        return None if resource.webhook is None else partial(self.convert, resource)

    def find(self, group: str, plural: str, namespace: str, name: str) -> Stored | None:
        """Return the present version of an object of a built-in kind at `v1`, if it exists and the kind is served."""
        resource = self.catalog.find(group, "v1", plural)
        return None if resource is None else self.collection(resource).get(resource.native, namespace, name)

    def all(self, resource: Resource, namespace: str = "") -> list[Stored]:
        """Return every object, for loops inside the server."""
        return self._cursor(resource, namespace).versions(2**31)

    def _cursor(self, resource: Resource, namespace: str) -> ListCursor:
        everything = Selector(resource.native, namespace, "", "")
        return self.collection(resource).list(resource.native, everything, "json", 0, 0, "")

    async def walk(self, resource: Resource, namespace: str = "", pacer: Pacer | None = None) -> AsyncIterator[Stored]:
        """Yield every present object, with pauses, for loops inside the server that may be long."""
        pacer = pacer or Pacer()
        cursor = self._cursor(resource, namespace)
        while batch := cursor.versions(BATCH):
            for stored in batch:
                await pacer.pause()
                yield stored
