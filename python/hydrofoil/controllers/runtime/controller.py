"""A controller: keys that events queue, processed one by one, and again on failure."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Generic, NamedTuple

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.controllers.runtime.client import Client, LeftAlone
from hydrofoil.controllers.runtime.informer import Handler, Informer, Subscription
from hydrofoil.controllers.runtime.lister import ALL, Change, Lister, T
from hydrofoil.controllers.runtime.queue import NORMAL, WorkQueue
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.errors import FAULTS, ApiError
from hydrofoil.pool import RETRY_SECONDS
from hydrofoil.registry.write import Write
from hydrofoil.request import User
from hydrofoil.storage.errors import Outdated
from hydrofoil.watch.queue import Key

LOG = logging.getLogger("hydrofoil")
CONFLICT = 409
Watch = tuple[Resource, Handler]


class ValueWatch(NamedTuple, Generic[T]):
    """A resource to watch, whose objects are given to the handler as values of a type; None: they are only read."""

    resource: Resource
    kind: type[T]
    change: Change[T] | None
    aspects: int = ALL
    """The aspects of changes that the handler looks at (`Lister`)."""


EPOCH: ContextVar[int | None] = ContextVar("epoch", default=None)
"""The epoch of the storage at the beginning of the present work: each worker has a context of its own."""


class Controller(ABC):
    """Queue keys on changes of objects, and bring the state of each key in step with them.

    A controller says what it watches, puts keys in its handlers, and does all else in `work`, from the present objects:
    how often and in which order changes came does not matter (`pkg/controller` in general). This one keeps a ConfigMap
    for each namespace:

        class Greeter(Controller):
            name = "greeter"

            def watches(self):
                return [(self.resource("", "namespaces"), self._on_namespace)]

            def _on_namespace(self, old, new):
                if new is not None:
                    self.put(new.name)

            async def work(self, key):
                (namespace,) = key
                maps = self.resource("", "configmaps")
                if self.registry.find("", "configmaps", namespace, "greeting") is None:
                    body = b'{"metadata": {"name": "greeting"}, "data": {"hello": "world"}}'
                    draft, _ = maps.native.decode(body, "json")
                    await self.registry.create(maps, namespace, draft, self.write(maps, namespace))
                return True

    `start` and `stop` run it; `await runtime.idle()` waits until it has nothing to do.
    """

    name = ""
    """Its name in `--controllers`; empty: it runs in every server."""
    user = User("system:kube-controller-manager", groups=("system:authenticated",))
    """The user of its writes."""
    width = 1
    """The number of keys that are processed side by side (`--concurrent-*-syncs`)."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.registry = runtime.registry
        self.queue = WorkQueue(
            type(self).__name__, self._process, self.registry.clock, runtime.activity, width=self.width
        )
        self.client = Client(self.write, self.registry)
        self._watched: dict[tuple[str, str], tuple[Informer, Subscription | None]] = {}
        self._listers: dict[tuple[str, str, type], Lister[Any]] = {}
        """Those of the present informers that were asked for."""
        self._stopped = False
        self._is_synced = False
        """Whether the objects of the start have been delivered."""

    def resource(self, group: str, plural: str) -> Resource:
        """Return a resource of version v1. Raise ApiError 404 if it is not served."""
        found = self.registry.catalog.find(group, "v1", plural)
        if found is None:
            raise errors.no_such_resource()
        return found

    @abstractmethod
    def watches(self) -> Iterable[Watch | ValueWatch[Any]]:
        """Return the resources to watch, each with the handler of its changes."""

    @abstractmethod
    async def work(self, key: Key) -> bool:
        """Process a key. Return False to process it again after a while, as after an exception."""

    async def _process(self, key: Key) -> bool:
        """Process a key; from the beginning if the state is restored meanwhile."""
        if not self._is_synced:
            await self._wait_for_objects()
        while True:
            EPOCH.set(self.registry.storage.epoch)
            with suppress(Outdated):
                try:
                    return await self.work(key)
                except LeftAlone:
                    # The object's next change queues the key, as that of any other one.
                    return True
                except ApiError as e:
                    # Another write came first, or the write is refused: nothing of this is a fault of the server.
                    if e.code != CONFLICT:
                        self.queue.refuse_key(key)
                    LOG.debug("%s: %s: %s", type(self).__name__, "/".join(key), e.message)
                    return False

    async def _wait_for_objects(self) -> None:
        """Wait for the objects of the start: of a part of its pods, a controller would make the rest anew."""
        for informer, _ in list(self._watched.values()):
            await informer.sync()
        self._is_synced = True

    def write(
        self, resource: Resource, namespace: str, name: str = "", *, subresource: str = "", manager: str = ""
    ) -> Write:
        """Return a write of this controller. It fails if the state is restored before it is committed."""
        made = self.runtime.writes.write(
            resource, namespace, name, subresource=subresource, manager=manager, user=self.user
        )
        made.epoch = EPOCH.get()
        # A controller's updates are functions of the present object: they are computed again when another write came
        # first, and one that needs the version it was computed from says so (`GuaranteedUpdate`).
        made.patch = True
        return made

    def put(self, *key: str, priority: int = NORMAL) -> None:
        """Queue a key unless it is queued."""
        self.queue.put(key, priority)

    def start(self) -> None:
        """Start the watches; the present objects are the first changes."""
        self.discover()

    def discover(self) -> None:
        """Watch resources that are not watched yet: at the start, and when resources come or go."""
        if self._stopped:
            return
        for watch in list(self.watches()):
            known = self._watched.get(watch[0].storage)
            if known is None or not self.runtime.informers.has(known[0]):
                self._watch(watch)

    def _watch(self, watch: Watch | ValueWatch[Any]) -> None:
        resource = watch[0]
        self._listers.clear()
        try:
            informer = self.runtime.informers.of(resource)
        except FAULTS:
            LOG.exception("%s cannot watch %s", type(self).__name__, resource.plural)
            self.registry.clock.machine.later(RETRY_SECONDS, self.discover)
            return
        self._watched[resource.storage] = informer, self._subscribe(informer, watch)

    def _subscribe(self, informer: Informer, watch: Watch | ValueWatch[Any]) -> Subscription | None:
        if not isinstance(watch, ValueWatch):
            return informer.add(watch[1])
        lister = informer.lister(watch.kind)
        if watch.change is not None:
            return informer.add(lister.handler(watch.change, watch.aspects))
        informer.hold()
        return None

    def watch(
        self, group: str, plural: str, kind: type[T], change: Change[T] | None, aspects: int = ALL
    ) -> ValueWatch[T]:
        """Return a watch of a resource of version v1 whose objects are values of a type; None: they are only read."""
        return ValueWatch(self.resource(group, plural), kind, change, aspects)

    def lister(self, group: str, plural: str, kind: type[T]) -> Lister[T]:
        """Return the objects of a watched resource as values of a type."""
        found = self._listers.get((group, plural, kind))
        if found is None:
            found = self._listers[group, plural, kind] = self.informer(self.resource(group, plural)).lister(kind)
        return found

    def informer(self, resource: Resource) -> Informer:
        """Return the informer of a watched resource, for its objects and indices."""
        return self._watched[resource.storage][0]

    async def stop(self) -> None:
        """Stop the watches and the queue."""
        self._stopped = True
        for informer, subscription in self._watched.values():
            self.runtime.informers.release(informer, subscription)
        self._watched.clear()
        await self.queue.close()


def all_served(catalog: Catalog, *resources: tuple[str, str]) -> bool:
    """Report whether resources of version v1 are served, by group and plural."""
    return all(catalog.find(group, "v1", plural) is not None for group, plural in resources)
