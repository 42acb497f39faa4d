"""An object of which many are made under generated names: the pods of a replica set."""

from __future__ import annotations

from collections.abc import Callable

from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry import names
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Exists


class Replicas:
    """Create objects that are equal but for their generated names.

    The first one is decoded, gets its defaults and is admitted, which is the most of a creation. As long as nobody
    writes any other object, and no plug-in counts, all that would have the same result for the next one.
    """

    def __init__(
        self, registry: Registry, resource: Resource, namespace: str, body: bytes, make: Callable[[], Write]
    ) -> None:
        """Take the JSON of the object, without a name, and what makes a write or raises ApiError."""
        self._registry = registry
        self._resource = resource
        self._namespace = namespace
        self._body = body
        self._make = make
        self._admitted: Draft | None = None
        """The object after admission; None if the next one has to be admitted anew."""
        self._prefix = ""
        self._moment = ""
        """The time that its managed fields have."""
        self._revision = 0
        """The revision of the latest write, which was the creation of one of the objects."""

    async def create(self) -> Stored:
        """Create an object. Raise ApiError as `Registry.create`."""
        registry, resource = self._registry, self._resource
        moment, collection = registry.clock.text(), registry.collection(resource)
        if self._admitted is not None and self._moment == moment and collection.latest == self._revision:
            stored = self._repeat(self._admitted)
            if stored is not None:
                return stored
        write = self._make()
        draft, _ = resource.native.decode(self._body, "json")
        self._admitted = None
        stored = await registry.create(resource, self._namespace, draft, write)
        if (
            draft.names[1]
            and registry.clock.text() == moment
            and collection.latest == stored.revision
            and (write.admit is None or write.admit.repeats("CREATE"))
            and registry.is_plain(resource)
        ):
            self._admitted, self._prefix = draft, draft.names[1]
            self._moment, self._revision = moment, stored.revision
        return stored

    def _repeat(self, admitted: Draft) -> Stored | None:
        """Create an object like the last one; return None if it has to be created like the first one."""
        registry, chance = self._registry, self._registry.chance
        for _ in range(names.NAME_TRIES):
            name = names.generate_name(self._prefix, chance)
            draft, ready = admitted.replicate(registry.native, name, chance.uid())
            if ready.causes:
                return None
            try:
                stored = registry.put(self._resource, None, draft)
            except Exists:
                continue
            if stored is None:
                return None
            self._revision = stored.revision
            return stored
        return None
