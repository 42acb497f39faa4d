"""A loop over the events of some resources."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

import orjson

from hydrofoil import engine
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.store import Registry
from hydrofoil.storage.backend import Expired
from hydrofoil.watch.hub import Hub
from hydrofoil.watch.stream import LAPPED, NOTHING, WatchStream

LOG = logging.getLogger("hydrofoil")
RETRY_SECONDS = 0.5


class EventSource(WatchStream):
    """A watch whose events are put into a controller's hands instead of on a wire."""

    def __init__(self, controller: Controller, resource: Resource, hub: Hub) -> None:
        self._controller = controller
        self.resource = resource
        token = hub.token()
        everything = engine.Selector(resource.native, "", "", "")
        collection = controller.registry.collection(resource)
        try:
            watcher = collection.watch(resource.native, everything, "json:bare", None, token, False)
        except Expired:  # pragma: no cover - a watch of the present state is never too old
            raise RuntimeError("the present state is always within reach") from None
        super().__init__(hub, token, watcher, _Nowhere(), lambda: b"", bookmarks=False)
        self.subject = resource.storage if resource.custom else None

    def pump(self) -> None:
        """Hands over what waits."""
        while not self.ended.done():
            data, left = self._watcher.drain(1 << 20)
            for line in (data or b"").splitlines():
                event = orjson.loads(line)
                self._controller.event(self.resource, event["type"], event["object"]["metadata"])
            if left == LAPPED:
                self.cut()
            if left in (NOTHING, LAPPED):
                return

    def cut(self) -> None:
        """Begins anew with the present state, unless nobody serves the resource any more."""
        self._hub.remove(self._token)
        self.ended.set_result(None)
        self._controller.ended(self)
        if self._controller.registry.catalog.serves(self.resource):
            self._controller.restart(self._controller.registry.catalog.present(self.resource))


class _Nowhere:
    def write(self, data: bytes) -> None:
        """Nothing is written."""

    def paused(self) -> bool:
        return False


class Controller:
    """Queues keys on events and works them off one by one; a failed one is tried again."""

    def __init__(self, registry: Registry, hub: Hub) -> None:
        self.registry = registry
        self._hub = hub
        self._queue: dict[tuple[str, ...], None] = {}
        self._wake = asyncio.Event()
        self._sources: list[EventSource] = []
        self._watched: set[tuple[str, str]] = set()
        self._task: asyncio.Task[None] | None = None

    def resources(self) -> Iterable[Resource]:
        """What to watch."""
        raise NotImplementedError

    def event(self, resource: Resource, kind: str, metadata: dict[str, object]) -> None:
        """Takes in an event; puts keys into the queue."""
        raise NotImplementedError

    async def work(self, key: tuple[str, ...]) -> bool:
        """Works on a key. False to come back to it after a while."""
        raise NotImplementedError

    def put(self, *key: str) -> None:
        """Queues a key, once."""
        self._queue[key] = None
        self._wake.set()

    def start(self) -> None:
        """Begins."""
        self.discover()
        self._task = asyncio.create_task(self._run())

    def discover(self) -> None:
        """Watches what is not watched yet."""
        for resource in list(self.resources()):
            if resource.storage not in self._watched:
                self.restart(resource)

    def ended(self, source: EventSource) -> None:
        """Forgets a source that has come to its end."""
        self._sources.remove(source)
        self._watched.discard(source.resource.storage)

    def restart(self, resource: Resource) -> None:
        """Watches a resource from its present state on."""
        source = EventSource(self, resource, self._hub)
        self._sources.append(source)
        self._watched.add(resource.storage)
        source.pump()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if not self._queue:
                self._wake.clear()
                await self._wake.wait()
            key = next(iter(self._queue))
            del self._queue[key]
            try:
                done = await self.work(key)
            except Exception:
                LOG.exception("%s failed on %s", type(self).__name__, key)
                done = False
            if not done:
                loop.call_later(RETRY_SECONDS, self.put, *key)
            # One key a turn: requests come first.
            await asyncio.sleep(0)

    async def stop(self) -> None:
        """Ends."""
        for source in self._sources:
            source.end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
