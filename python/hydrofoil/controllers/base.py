"""A loop over the events of some resources."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import partial
from typing import Any

import orjson

from hydrofoil import engine, errors
from hydrofoil.admission.chain import Chain
from hydrofoil.answer import Piece
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import stopwatch
from hydrofoil.controllers.graph import Kind
from hydrofoil.errors import FAULTS
from hydrofoil.pace.shares import WATCHERS
from hydrofoil.pool import RETRY_SECONDS
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.request import User
from hydrofoil.storage.errors import Expired, Outdated
from hydrofoil.watch.hub import INITIAL_END, LAPPED, NOTHING, Hub
from hydrofoil.watch.queue import Queue
from hydrofoil.watch.stream import WatchStream

LOG = logging.getLogger("hydrofoil")
PIECE = 16 << 10
"""The number of bytes of events that are read at a time."""
Metadata = dict[str, object]


class EventSource(WatchStream):
    """A watch whose events are passed to a controller instead of a connection.

    The first events are the present state; objects that the controller remembers and that no longer exist are reported
    as deleted, so that nothing is kept that was removed unobserved.
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
        super().__init__(hub, token, watcher, lambda _: b"", bookmarks=False)
        self.begin(_Nowhere())
        self.subject = resource.storage if resource.custom else None
        self._present: set[str] | None = set() if controller.watched_before(resource) else None

    def _pump(self) -> None:
        """Pass on waiting events until another task is due."""
        end = stopwatch() + WATCHERS
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
            if stopwatch() > end:
                self._hub.again(self._token)
                return

    def fail(self, fault: BaseException) -> None:
        """Restart after a while from the present state."""
        LOG.error("%s failed on events of %s", type(self._controller).__name__, self.resource.plural, exc_info=fault)
        if not self.ended.done():
            self.end()
            self._controller.registry.clock.machine.later(RETRY_SECONDS, partial(self._controller.again, self))

    def cut(self) -> None:
        """End after the last events if no version of the resource is served; metadata has one form in all versions."""
        if not self._controller.registry.catalog.serves(self.resource):
            super().cut()


class _Nowhere:
    begun = True

    def begin(self) -> None:
        """Do nothing: there is no head."""

    def write(self, *pieces: Piece) -> None:
        """Do nothing: there is no connection."""

    def paused(self) -> bool:
        return False

    async def drained(self) -> None:
        """Return at once: there is no connection."""


def service_account(name: str) -> User:
    """Return the user of a controller of kube-controller-manager (`--use-service-account-credentials`)."""
    groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")
    return User(f"system:serviceaccount:kube-system:{name}", groups=groups)


class Controller(ABC):
    """Queue keys on events; process them one by one, and again on failure."""

    name = ""
    """Its name in `--controllers`; empty: it runs in every server."""
    user = User("system:kube-controller-manager", groups=("system:authenticated",))
    """The user of its writes."""

    def __init__(self, registry: Registry, hub: Hub) -> None:
        self.registry = registry
        self._hub = hub
        self.queue = Queue(type(self).__name__, self._worked, registry.clock, retry=RETRY_SECONDS)
        self._epoch = 0
        """The epoch of the storage at the beginning of the present work."""
        self._sources: dict[tuple[str, str], EventSource] = {}
        self._met: set[tuple[str, str]] = set()
        self._stopped = False

    def write(
        self, resource: Resource, namespace: str, name: str = "", *, subresource: str = "", manager: str = ""
    ) -> Write:
        """Return a write of this controller."""
        made = self.admission.write(resource, namespace, name, subresource=subresource, manager=manager, user=self.user)
        made.epoch = self._epoch
        return made

    def resource(self, group: str, plural: str) -> Resource:
        """Return a resource of version v1."""
        found = self.registry.catalog.find(group, "v1", plural)
        if found is None:
            raise errors.no_such_resource()
        return found

    @abstractmethod
    def resources(self) -> Iterable[Resource]:
        """Return the resources to watch."""

    @abstractmethod
    def event(self, resource: Any, kind: str, metadata: Metadata) -> None:
        """Apply an event, and queue keys."""

    def known(self, resource: Kind) -> Iterable[Metadata]:
        """Return the metadata of the remembered objects of a resource: at least uid, namespace and name."""
        return ()

    @abstractmethod
    async def work(self, key: tuple[str, ...]) -> bool:
        """Process a key. Return False to process it again after a while."""

    async def _worked(self, key: tuple[str, ...]) -> bool:
        """Process a key; from the beginning if the state is restored meanwhile."""
        while True:
            self._epoch = self.registry.storage.epoch
            try:
                return await self.work(key)
            except Outdated:
                continue

    @property
    def idle(self) -> bool:
        """Report whether no key waits or is processed; keys to be processed again later do not count."""
        return not len(self.queue)

    def watched_before(self, resource: Resource) -> bool:
        """Report whether objects of a resource may be remembered; from now on they may be."""
        before = resource.storage in self._met
        self._met.add(resource.storage)
        return before

    def replace(self, resource: Kind, present: set[str]) -> None:
        """Report the remembered objects of a resource as deleted whose uids are not among the present ones."""
        for metadata in [m for m in self.known(resource) if m["uid"] not in present]:
            self.event(resource, "DELETED", metadata)

    def put(self, *key: str) -> None:
        """Queue a key unless it is queued."""
        self.queue.put(key)

    def start(self, admission: Chain) -> None:
        """Start the watches and the queue; its writes pass this admission."""
        self.admission = admission
        self.discover()

    def discover(self) -> None:
        """Watch resources that are not watched yet."""
        if self._stopped:
            return
        for resource in list(self.resources()):
            if resource.storage not in self._sources:
                self._watch(resource)

    def ended(self, source: EventSource) -> None:
        """Forget a source that has ended."""
        source.end()
        if self._sources.get(source.resource.storage) is source:
            del self._sources[source.resource.storage]

    def again(self, source: EventSource) -> None:
        """Replace a source that lost its events by a new one, unless the resource is no longer served."""
        self.ended(source)
        if not self._stopped and self.registry.catalog.serves(source.resource):
            self._watch(self.registry.catalog.present(source.resource))

    def _watch(self, resource: Resource) -> None:
        """Watch a resource from its present state."""
        try:
            source = self._sources[resource.storage] = EventSource(self, resource, self._hub)
            source.pump()
        except FAULTS:
            LOG.exception("%s cannot watch %s", type(self).__name__, resource.plural)
            self.registry.clock.machine.later(RETRY_SECONDS, self.discover)

    async def stop(self) -> None:
        """Stop the watches and the queue."""
        self._stopped = True
        for source in list(self._sources.values()):
            source.end()
        await self.queue.close()
