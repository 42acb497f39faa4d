"""The objects of one resource for all controllers of a server (client-go `tools/cache/shared_informer.go`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import stopwatch
from hydrofoil.controllers.runtime.index import Index, Key, Objects, Values, key_of
from hydrofoil.controllers.runtime.lister import Lister, T
from hydrofoil.engine import Stored, Watcher
from hydrofoil.errors import FAULTS
from hydrofoil.pool import RETRY_SECONDS
from hydrofoil.registry.objects import Objects as StoredObjects
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import INITIAL_END, LAPPED, Hub

LOG = logging.getLogger("hydrofoil")
BATCH = 32
"""The number of changes between two looks at the clock: handlers take some microseconds for each."""
Handler = Callable[[Stored | None, Stored | None], None]
"""Take the versions of an object before and after a change: None before it exists, and after it has gone.

A handler puts keys into queues: it neither waits nor writes, and reads fields, not whole objects."""


class Subscription:
    """A handler of an informer, and what it has missed.

    Both a handler that came late and one that failed miss changes. For each object that is one change, however many
    there were: from the version that the handler last had to the present one. It has no event of such an object before
    that, so that it sees each object in order.
    """

    __slots__ = ("call", "missed", "ready", "retry")

    def __init__(self, call: Handler, missed: dict[Key, Stored | None]) -> None:
        self.call = call
        self.missed = missed
        """The version that the handler last had, by key."""
        self.ready = bool(missed)
        """Whether missed changes are delivered now; after a failure they wait for `retry`."""
        self.retry: asyncio.TimerHandle | None = None


class Informer(Followed[Any]):
    """One watch of a resource, shared by the controllers that ask for it.

    Its state is the objects whose events have been delivered. A watch that is lapped, or whose storage is loaded anew,
    begins again with the present objects: the differences to those that are known are delivered as changes, deletions
    included, so that nothing is kept that was removed unobserved (`DeltaFIFO.Replace`).
    """

    def __init__(
        self, registry: StoredObjects, resource: Resource, hub: Hub, ended: Callable[[Informer], None]
    ) -> None:
        """Call `ended` when the resource is no longer served, after its last events."""
        self.resource = resource
        self.objects = Objects()
        """The objects whose events have been delivered (a lister of client-go)."""
        self._registry = registry
        self._ended = ended
        self._handlers: list[Subscription] = []
        self._holders = 0
        """The controllers that read the objects, and are called for none of their changes."""
        self._indices: dict[Values, tuple[Index, Subscription]] = {}
        self._listers: dict[type, tuple[Lister[Any], Subscription]] = {}
        self._unseen: dict[Key, None] | None = None
        """During the initial events: the known objects that were not among them so far."""
        self._gone: list[Key] = []
        """The known objects that were not among the initial events, to be delivered as deleted."""
        self._ending = False
        self._is_over = False
        self._synced: asyncio.Future[None] | None = None
        """What those wait for that need the objects of the start; made by the first of them."""
        super().__init__(registry.collection(resource), resource.native, self.objects, hub)
        # Objects of a custom resource have another form, or none, when its definition changes.
        self.subject = resource.storage if resource.custom else None
        self._again()

    def _again(self) -> None:
        """Have the hub serve this informer in a later turn: a start is not held up by what there is."""
        self._hub.again(self.token)

    def _watch(self) -> Watcher:
        watcher = super()._watch()
        self._unseen = dict.fromkeys(self.objects.keys())
        self._gone = []
        return watcher

    @property
    def state(self) -> Objects:
        """Return the objects at the view of this call: waiting changes are delivered first, however many they are."""
        while self.waits() and not self._taking:
            self._take()
        return self.objects

    @property
    def has_synced(self) -> bool:
        """Report whether the objects present at the start have been delivered to all handlers."""
        return self._unseen is None and not any(one.missed for one in self._handlers)

    async def sync(self) -> None:
        """Wait until the objects present at the start have been delivered (`WaitForCacheSync`).

        Those on which a handler fails are not waited for: they are delivered again later, like any event.
        """
        while not self._is_over and (self._unseen is not None or any(one.ready for one in self._handlers)):
            if self._synced is None:
                self._synced = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._synced)

    def _note_sync(self) -> None:
        if self._synced is not None:
            synced, self._synced = self._synced, None
            if not synced.done():
                synced.set_result(None)

    def index(self, values: Values) -> Index:
        """Return the index of a function; controllers that ask for the same function share it.

        An index is a handler: those that are added after it find each change in it. One that is added to a filled
        informer is filled in pieces, like any late handler.
        """
        known = self._indices.get(values)
        if known is None:
            index = Index(values)
            known = self._indices[values] = index, self.add(index.apply)
        return known[0]

    def lister(self, kind: type[T]) -> Lister[T]:
        """Return the objects as values of a type; controllers that ask for the same type share them.

        As an index, it is a handler that those which are added after it rely on.
        """
        known = self._listers.get(kind)
        if known is None:
            lister = Lister(kind)
            known = self._listers[kind] = lister, self.add(lister.apply)
        return known[0]

    def add(self, handler: Handler) -> Subscription:
        """Call a handler for each change from now on, and for each present object, in pieces."""
        subscription = Subscription(handler, dict.fromkeys(self.objects.keys()))
        self._handlers.append(subscription)
        if subscription.ready:
            self._again()
        return subscription

    def hold(self) -> None:
        """Keep the objects for a controller without a handler, until `remove(None)`."""
        self._holders += 1

    def remove(self, subscription: Subscription | None) -> None:
        """Call a handler no more."""
        if subscription is None:
            self._holders -= 1
            return
        self._handlers.remove(subscription)
        if subscription.retry is not None:
            subscription.retry.cancel()

    @property
    def is_used(self) -> bool:
        """Report whether a controller has a handler here; indices and listers alone keep no informer."""
        return self._holders > 0 or len(self._handlers) > len(self._indices) + len(self._listers)

    def waits(self) -> bool:
        """Report whether changes are to be delivered now."""
        return self.watcher.waits() or bool(self._gone) or any(one.ready for one in self._handlers)

    def pump(self) -> None:
        """Deliver waiting changes until the share of watchers is used up; the hub calls this when there are any."""
        end = stopwatch() + self._hub.slice
        while self.waits():
            self._take()
            if stopwatch() > end:
                self._again()
                return
        self._note_sync()
        if self._ending:
            self.end()
            self._ended(self)

    def _take(self) -> None:
        """Deliver some of what waits."""
        self._taking = True
        try:
            # First what was missed: an index that is filled late is complete before further handlers rely on it.
            for one in self._handlers:
                if one.ready:
                    return self._deliver_missed(one)
            if self._gone:
                gone, self._gone = self._gone[:BATCH], self._gone[BATCH:]
                for key in gone:
                    self._change(key, None)
                return None
            return self._deliver_changes()
        finally:
            self._taking = False

    def _deliver_changes(self) -> None:
        """Deliver a batch of waiting changes, or the differences of a batch of initial objects."""
        changes, left = self.watcher.changes(BATCH)
        for old, new in changes:
            key = key_of(new or old)  # type: ignore[arg-type] # one of them is an object
            if self._unseen is not None:
                self._unseen.pop(key, None)
            self._change(key, new)
        if left == INITIAL_END:
            self._gone, self._unseen = [*(self._unseen or ())], None
        elif left == LAPPED:
            self.watcher = self._watch()
        self._taken()

    def _change(self, key: Key, new: Stored | None) -> None:
        """Deliver a change of one object to all handlers."""
        old = self.objects.pop(key) if new is None else self.objects.put(key, new)
        if old is None and new is None:
            return
        if old is not None and new is not None and old.revision == new.revision:
            # Among initial objects, it has not changed since.
            return
        is_another = old is not None and new is not None and old.uid != new.uid
        for one in self._handlers:
            if one.missed and key in one.missed:
                continue
            if is_another:
                self._call(one, key, old, new)
                continue
            # In line: there are up to twenty handlers of each change of a pod.
            try:
                one.call(old, new)
            except FAULTS:
                self._fail(one, key, old)

    def _call(self, one: Subscription, key: Key, old: Stored | None, new: Stored | None) -> None:
        """Call a handler, twice if another object has the name: the end of the first one was not observed."""
        try:
            if old is not None and new is not None and old.uid != new.uid:
                one.call(old, None)
                old = None
            one.call(old, new)
        except FAULTS:
            self._fail(one, key, old)

    def _fail(self, one: Subscription, key: Key, old: Stored | None) -> None:
        """Repeat a handler later that has failed; the fault affects neither other handlers nor other objects."""
        LOG.exception("a controller failed on an event of %s", self.resource.plural)
        one.missed[key] = old
        if one.retry is None:
            clock = self._registry.clock
            one.retry = clock.machine.later(RETRY_SECONDS, partial(self._repeat, one))

    def _repeat(self, one: Subscription) -> None:
        one.retry = None
        one.ready = bool(one.missed)
        self._again()

    def _deliver_missed(self, one: Subscription) -> None:
        """Deliver a batch of the changes that a handler has missed."""
        for key in [*islice(one.missed, BATCH)]:
            old, new = one.missed.pop(key), self.objects.get(*key)
            if old is not None or new is not None:
                self._call(one, key, old, new)
        # What has failed again waits for its time.
        one.ready = bool(one.missed) and one.retry is None

    def cut(self) -> None:
        """Follow the present form of the objects; without any, end after the last events."""
        catalog = self._registry.catalog
        if catalog.serves(self.resource):
            # Handles from now on are those of the present definition; objects without a change are no events.
            self.resource = catalog.present(self.resource)
            self._resource = self.resource.native
            self.watcher = self._watch()
            self._taken()
        else:
            self._ending = True
        self._again()

    def end(self) -> None:
        """Stop following."""
        super().end()
        self._is_over = True
        self._note_sync()
        for one in self._handlers:
            if one.retry is not None:
                one.retry.cancel()


class Informers:
    """The informers of one server: one for each resource that a controller asks for, and none for others."""

    def __init__(self, registry: StoredObjects, hub: Hub) -> None:
        self._registry = registry
        self._hub = hub
        self._all: dict[tuple[str, str], Informer] = {}

    def of(self, resource: Resource) -> Informer:
        """Return the informer of a resource, whichever of its versions is given."""
        found = self._all.get(resource.storage)
        if found is None:
            present = self._registry.catalog.present(resource)
            found = self._all[resource.storage] = Informer(self._registry, present, self._hub, self._forget)
        return found

    def has(self, informer: Informer) -> bool:
        """Report whether an informer follows its resource still."""
        return self._all.get(informer.resource.storage) is informer

    def _forget(self, informer: Informer) -> None:
        if self.has(informer):
            del self._all[informer.resource.storage]

    def release(self, informer: Informer, subscription: Subscription | None) -> None:
        """Remove a handler, and the informer with its last one."""
        informer.remove(subscription)
        if not informer.is_used:
            informer.end()
            self._forget(informer)

    def waiting(self) -> list[Informer]:
        """Return the informers with changes to be delivered now."""
        return [informer for informer in self._all.values() if informer.waits()]
