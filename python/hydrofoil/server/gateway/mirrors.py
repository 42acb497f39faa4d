"""The resources that are read from the view."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from msgspec.structs import replace

from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock, stopwatch
from hydrofoil.registry.store import Registry
from hydrofoil.request import RequestInfo
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.log import Name
from hydrofoil.storage.upstream.feed import Feed
from hydrofoil.storage.upstream.log import UpstreamLog
from hydrofoil.watch.hub import Hub

LOG = logging.getLogger("hydrofoil")
EVICTED_SECONDS = 300.0
"""How long a resource that was taken out of the view is read from the upstream."""
RETIRE_SECONDS = 10.0
"""How long the last events of a resource that is gone are waited for."""
Key = tuple[str, str, str]
"""Group, version and plural."""


class Mirror:
    """One resource in one version, as the upstream serves it."""

    def __init__(self, served: Resource, name: Name) -> None:
        self.served = served
        """The resource; its type is that of this server."""
        self.name = name
        """The name of its collection."""
        self.resource = served
        """The same with the type whose objects are as the upstream wrote them; while it is open."""
        self.collection: Collection | None = None
        """The objects; None while it is not open."""
        self.used = 0.0
        """When it was last read."""
        self.closed_until = 0.0
        """Until when it is not opened again."""

    def use(self) -> None:
        """Record a read."""
        self.used = stopwatch()

    @property
    def path(self) -> str:
        """Return the path of all objects."""
        served = self.served
        root = f"/apis/{served.group}/{served.version}" if served.group else f"/api/{served.version}"
        return f"{root}/{served.plural}"


class Mirrors:
    """The resources of the upstream, and which of them the view has."""

    def __init__(self, log: UpstreamLog, registry: Registry, hub: Hub, clock: Clock) -> None:
        self.log = log
        self.read_saved: Callable[[str], bytes] = lambda _: b""
        """Return the list that an earlier process has kept of a path; empty if there is none."""
        self._registry = registry
        self._hub = hub
        self._clock = clock
        self._all: dict[Key, Mirror] = {}
        log.rewound = self._reopen
        self._numbers = 0
        self._retiring: set[asyncio.Task[None]] = set()

    def all(self) -> list[Mirror]:
        """Return every resource."""
        return list(self._all.values())

    def find(self, info: RequestInfo) -> Mirror | None:
        """Return the resource of a request, if it may be read from the view."""
        return self._all.get((info.group, info.version, info.resource))

    def get(self, key: Key) -> Mirror | None:
        """Return a resource."""
        return self._all.get(key)

    def add(self, served: Resource) -> Mirror:
        """Serve a resource; in place of another one of its names, whose watches end."""
        key = served.group, served.version, served.plural
        self.remove(key)
        mirror = self._all[key] = Mirror(served, self._name(served))
        return mirror

    def _name(self, served: Resource) -> Name:
        """Return the name of a new collection: a resource that is defined anew has other objects than before."""
        self._numbers += 1
        return served.group, f"{served.plural}.{served.version}.{self._numbers}"

    def _reopen(self, name: Name) -> None:
        """Begin a collection anew whose versions have gone back; its watches end."""
        mirror = next((mirror for mirror in self._all.values() if mirror.name == name), None)
        if mirror is not None and mirror.collection is not None:
            LOG.warning("%s: the upstream is at an earlier version than before", mirror.path)
            self.close(mirror)
            mirror.name = self._name(mirror.served)
            self.open(mirror)

    def remove(self, key: Key) -> None:
        """Serve a resource no more; its watches end after the last events that the upstream sends."""
        found = self._all.pop(key, None)
        if found is not None and found.collection is not None:
            task = asyncio.create_task(self._retire(found), name=f"end of {found.path}")
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)

    async def _retire(self, mirror: Mirror) -> None:
        if (feed := self.feed(mirror)) is not None:
            await self._clock.machine.wait(feed.broken, RETIRE_SECONDS)
        self.close(mirror)

    async def stop(self) -> None:
        """End all work beside requests."""
        for task in list(self._retiring):
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)

    def open(self, mirror: Mirror) -> Collection | None:
        """Return the objects of a resource, which are read from now on; None if it may not be opened."""
        if mirror.collection is not None:
            return mirror.collection
        if stopwatch() < mirror.closed_until:
            return None
        saved = self.read_saved(mirror.path)
        native, _ = self.log.mirror(mirror.name, mirror.path, mirror.served.native, saved)
        resource = replace(mirror.served, native=native, webhook=None)
        resource.storage = mirror.name
        mirror.resource = resource
        mirror.collection = self._registry.collection(resource)
        mirror.used = stopwatch()
        return mirror.collection

    def close(self, mirror: Mirror) -> None:
        """Take a resource out of the view; its watches end."""
        if mirror.collection is None:
            return
        mirror.collection = None
        self._hub.cut(mirror.name)
        self._registry.forget(mirror.name)

    def feed(self, mirror: Mirror) -> Feed | None:
        """Return the feed of a resource; None while it is not open."""
        return self.log.feeds.get(mirror.name)

    async def load(self, seconds: float) -> None:
        """Wait until every open resource has its first state or has failed to get it, for some seconds at most."""
        waits = (self._clock.machine.wait(feed.tried, seconds) for feed in self.log.feeds.values())
        await asyncio.gather(*waits)

    def bytes(self) -> int:
        """Return the size of the view."""
        return sum(mirror.collection.size()[1] for mirror in self._all.values() if mirror.collection is not None)

    def bound(self, limit: int, kept: frozenset[Key]) -> None:
        """Take the resources that were read longest ago out of a view that is larger than a limit, except for some.

        Those that are watched go last.
        """
        held = self.bytes()
        if held <= limit:
            return
        opened = [(key, m, m.collection.size()) for key, m in self._all.items() if m.collection is not None]
        opened = [found for found in opened if found[0] not in kept]
        for key, mirror, (_, size, _) in sorted(opened, key=lambda found: (found[2][2] > 0, found[1].used)):
            if held <= limit:
                return
            if not size:
                continue
            LOG.warning("%s is read from the upstream: the view has %d bytes", ".".join(key), held)
            self.close(mirror)
            mirror.closed_until = stopwatch() + EVICTED_SECONDS
            held -= size
