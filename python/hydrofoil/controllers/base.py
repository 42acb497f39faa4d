"""A loop over the events of some resources."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial

import orjson

from hydrofoil import engine
from hydrofoil.admission.chain import Chain
from hydrofoil.answer import Piece
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import stopwatch
from hydrofoil.errors import FAULTS
from hydrofoil.registry.pool import RETRY_SECONDS
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.request import User
from hydrofoil.storage.errors import Expired
from hydrofoil.watch.hub import INITIAL_END, LAPPED, NOTHING, SLICE_SECONDS, Hub
from hydrofoil.watch.queue import Queue
from hydrofoil.watch.stream import WatchStream

LOG = logging.getLogger("hydrofoil")
PIECE = 16 << 10
"""How many bytes of events are read at a time."""
Metadata = dict[str, object]


class EventSource(WatchStream):
    """A watch whose events are put into a controller's hands instead of on a wire.

    The first thing it gives is the present state; what the controller knew before and is no longer there is told as
    deleted, so that nothing is kept that went while nobody looked.
    """

    urgent = False

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
        super().__init__(hub, token, watcher, _Nowhere(), lambda _: b"", bookmarks=False)
        self.subject = resource.storage if resource.custom else None
        self._present: set[str] | None = set() if controller.watched_before(resource) else None

    def _pump(self) -> None:
        """Hand over what waits, for as long as nobody else is due."""
        due = stopwatch() + SLICE_SECONDS
        while not self.ended.done():
            data, left = self._watcher.drain(PIECE)
            for line in (data or b"").splitlines():
                event = orjson.loads(line)
                metadata = event["object"]["metadata"]
                if self._present is not None:
                    self._present.add(str(metadata["uid"]))
                self._controller.event(self.resource, event["type"], metadata)
            if left == INITIAL_END and self._present is not None:
                self._controller.replace(self.resource, self._present)
                self._present = None
            elif left == LAPPED:
                self._controller.again(self)
            elif left == NOTHING:
                if self._ending:
                    self._controller.ended(self)
                return
            if stopwatch() > due:
                self._hub.again(self._token)
                return

    def fail(self, fault: BaseException) -> None:
        """Begin anew after a while with the present state."""
        LOG.error("%s failed on events of %s", type(self._controller).__name__, self.resource.plural, exc_info=fault)
        if not self.ended.done():
            self.end()
            self._controller.registry.clock.later(RETRY_SECONDS, partial(self._controller.again, self))

    def cut(self) -> None:
        """End after the last events if nobody serves the resource any more; metadata has one form in all others."""
        if not self._controller.registry.catalog.serves(self.resource):
            super().cut()


class _Nowhere:
    begun = True

    def begin(self) -> None:
        """Begin nothing."""

    def write(self, *pieces: Piece) -> None:
        """Write nothing."""

    def paused(self) -> bool:
        return False

    async def drained(self) -> None:
        """Wait for nothing."""


def service_account(name: str) -> User:
    """Who a controller of kube-controller-manager is (`--use-service-account-credentials`)."""
    groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")
    return User(f"system:serviceaccount:kube-system:{name}", groups=groups)


class Controller:
    """Puts keys into a queue on events; they are worked on one by one, and again when that fails."""

    user = User("system:kube-controller-manager", groups=("system:authenticated",))
    """As whom it writes."""
    admission: Chain
    """Who admits what it writes; given before it starts."""

    def __init__(self, registry: Registry, hub: Hub) -> None:
        self.registry = registry
        self._hub = hub
        self._queue = Queue(type(self).__name__, self.work, registry.clock, retry=RETRY_SECONDS)
        self._sources: dict[tuple[str, str], EventSource] = {}
        self._met: set[tuple[str, str]] = set()
        self._stopped = False

    def write(
        self, resource: Resource, namespace: str, name: str = "", *, subresource: str = "", manager: str = ""
    ) -> Write:
        """A write of its own."""
        return self.admission.write(resource, namespace, name, subresource=subresource, manager=manager, user=self.user)

    def resources(self) -> Iterable[Resource]:
        """What to watch."""
        raise NotImplementedError

    def event(self, resource: Resource, kind: str, metadata: Metadata) -> None:
        """Take in an event; put keys into the queue."""
        raise NotImplementedError

    def known(self, resource: Resource) -> Iterable[Metadata]:
        """The metadata, at least uid, namespace and name, of what is remembered of a resource."""
        return ()

    async def work(self, key: tuple[str, ...]) -> bool:
        """Work on a key. False to come back to it after a while."""
        raise NotImplementedError

    def watched_before(self, resource: Resource) -> bool:
        """Whether something of a resource may be remembered; it is from now on."""
        before = resource.storage in self._met
        self._met.add(resource.storage)
        return before

    def replace(self, resource: Resource, present: set[str]) -> None:
        """Tell what is remembered of a resource and is not among the uids that are present as deleted."""
        for metadata in [m for m in self.known(resource) if m["uid"] not in present]:
            self.event(resource, "DELETED", metadata)

    def put(self, *key: str) -> None:
        """Queue a key, once."""
        self._queue.put(key)

    def start(self) -> None:
        """Begin."""
        self.discover()

    def discover(self) -> None:
        """Watch what is not watched yet."""
        if self._stopped:
            return
        for resource in list(self.resources()):
            if resource.storage not in self._sources:
                self._watch(resource)

    def ended(self, source: EventSource) -> None:
        """Forget a source that has come to its end."""
        source.end()
        if self._sources.get(source.resource.storage) is source:
            del self._sources[source.resource.storage]

    def again(self, source: EventSource) -> None:
        """Put a new source in the place of one that has lost its events, unless nobody serves the resource any more."""
        self.ended(source)
        if not self._stopped and self.registry.catalog.serves(source.resource):
            self._watch(self.registry.catalog.present(source.resource))

    def _watch(self, resource: Resource) -> None:
        """Watch a resource from its present state on."""
        try:
            source = self._sources[resource.storage] = EventSource(self, resource, self._hub)
            source.pump()
        except FAULTS:
            LOG.exception("%s cannot watch %s", type(self).__name__, resource.plural)
            self.registry.clock.later(RETRY_SECONDS, self.discover)

    async def stop(self) -> None:
        """End."""
        self._stopped = True
        for source in list(self._sources.values()):
            source.end()
        await self._queue.close()
