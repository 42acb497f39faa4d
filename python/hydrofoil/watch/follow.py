"""State that follows events: correct after a start on full storage, writes of other servers, and a restore."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, Protocol, TypeVar

from hydrofoil.engine import ResourceType, Selector, Stored, Watcher
from hydrofoil.errors import FAULTS
from hydrofoil.pace.pacer import Pacer
from hydrofoil.storage.collection import Collection
from hydrofoil.watch.hub import INITIAL_END, LAPPED, Hub

LOG = logging.getLogger("hydrofoil")
BATCH = 256
"""The number of changes applied at a time."""
V = TypeVar("V")


class State(Protocol):
    """A function of objects: it does not wait, write or read the time.

    The same objects give the same state, in whichever order and pieces they arrive: servers over one log agree, and a
    restore is a replacement like any other.

    >>> import asyncio
    >>> from hydrofoil.apis.catalog import Catalog
    >>> from hydrofoil.clock import Clock
    >>> from hydrofoil.storage.local import LocalLog
    >>> from hydrofoil.storage.storage import Storage
    >>> class Names:
    ...     def __init__(self):
    ...         self.names = set()
    ...     def replace(self, objects):
    ...         self.names = {stored.name for stored in objects}
    ...     def apply(self, old, new):
    ...         self.names -= {stored.name for stored in (old,) if stored}
    ...         self.names |= {stored.name for stored in (new,) if stored}
    ...     async def settle(self):
    ...         pass
    >>> async def main():
    ...     storage = Storage(LocalLog(), Clock())
    ...     await storage.open()
    ...     maps = Catalog().find("", "v1", "configmaps")
    ...     collection = storage.collection(maps.storage, maps.native)
    ...     followed = Followed(collection, maps.native, Names(), Hub(storage, Clock()))
    ...     draft, _ = maps.native.decode(b'{"metadata": {"name": "a", "namespace": "n"}}', "json")
    ...     await collection.create(draft)
    ...     print(followed.state.names)
    ...     await storage.close()
    >>> asyncio.run(main())
    {'a'}
    """

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present objects, at first and when the history has expired."""

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change: the versions before and after."""

    async def settle(self) -> None:
        """Wait until work that `apply` sent to the pool is complete."""


S = TypeVar("S", bound=State)


class Followed(Generic[S]):
    """A state, and the collection that it is a function of."""

    urgent = False
    subject: tuple[str, str] | None = None

    def __init__(self, collection: Collection, resource: ResourceType, state: S, hub: Hub) -> None:
        self._collection = collection
        self._resource = resource
        self._state = state
        self._hub = hub
        self.token = hub.token()
        """What the hub knows its watcher by."""
        self._calls: list[Callable[[], None]] = []
        self._at_take: list[Callable[[], None]] = []
        self._loaded: list[Stored] | None = []
        """The loaded objects so far; None once they are applied."""
        self._taking = False
        self._changed = False
        """Whether a change is not reported to listeners yet."""
        self.watcher = self._watch()
        """The changes that wait. A caller for which each call counts asks them before it asks for the state."""
        hub.add(self.token, self)
        if collection.loading is not None:
            # Loaded objects are not events.
            collection.loading.add_done_callback(lambda _: self._anew())

    def _anew(self) -> None:
        self.watcher = self._watch()
        self._taken()
        self._hub.again(self.token)

    def _watch(self) -> Watcher:
        everything = Selector(self._resource, "", "", "")
        self._loaded = []
        return self._collection.watch(self._resource, everything, "json", None, self.token, False)

    @property
    def state(self) -> S:
        """Return the state at the view of this call: waiting changes are applied first."""
        while self.watcher.waits() and not self._taking:
            self._take()
        return self._state

    async def fresh(self) -> S:
        """Return the state at the log's latest revision of this call, settled; long backlogs are applied in pieces.

        Raise Behind and Unavailable.
        """
        if not self._collection.ready():
            await self._collection.wait()
        pacer = Pacer()
        while self.watcher.waits():
            self._take()
            await pacer.pause()
        await self._state.settle()
        return self._state

    def on_change(self, call: Callable[[], None]) -> None:
        """Register a call once a turn in which the state has changed, after the change."""
        self._calls.append(call)

    def on_take(self, call: Callable[[], None]) -> None:
        """Register a call right after changes were applied, or the watcher was replaced; it must not read the state."""
        self._at_take.append(call)

    def _taken(self) -> None:
        for call in self._at_take:
            call()

    def _take(self) -> None:
        """Apply a batch of waiting changes. After an error, rebuild the state from all objects at the next call."""
        changes, left = self.watcher.changes(BATCH)
        # A listener called by the state itself reads the state so far.
        self._taking = True
        if not self._changed:
            self._changed = True
            self._hub.again(self.token)
        try:
            if self._loaded is not None:
                self._loaded += [new for _, new in changes if new is not None]
                if left == INITIAL_END:
                    loaded, self._loaded = self._loaded, None
                    self._state.replace(loaded)
            elif left == LAPPED:
                self.watcher = self._watch()
            else:
                for old, new in changes:
                    self._state.apply(old, new)
        except FAULTS:
            self.watcher = self._watch()
            raise
        finally:
            self._taking = False
            self._taken()

    def pump(self) -> None:
        """Apply waiting changes and report them; the hub calls this when there are any."""
        if self._pieces():
            self._hub.again(self.token)
        elif self._changed:
            self._changed = False
            for call in self._calls:
                try:
                    call()
                except FAULTS:
                    LOG.exception("what follows a change failed")

    def _pieces(self) -> bool:
        """Apply waiting changes until another task is due; report whether more are waiting."""
        pacer = Pacer()
        while self.watcher.waits():
            self._take()
            if pacer.is_due():
                return self.watcher.waits()
        return False

    def bookmark(self) -> None:
        """Do nothing: the position is not reported."""

    def cut(self) -> None:
        """Do nothing: the form of objects is irrelevant."""

    def end(self) -> None:
        """Stop following."""
        self._hub.remove(self.token)


class Table(Generic[V]):
    """The most common state: a value derived from each object, by namespace and name."""

    def __init__(self, make: Callable[[Stored], V]) -> None:
        self._make = make
        self._all: dict[str, dict[str, V]] = {}

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present objects."""
        self._all.clear()
        for stored in objects:
            self.apply(None, stored)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        if new is not None:
            self._all.setdefault(new.namespace, {})[new.name] = self._make(new)
        elif old is not None and (within := self._all.get(old.namespace)) is not None:
            within.pop(old.name, None)
            if not within:
                del self._all[old.namespace]

    async def settle(self) -> None:
        """Return at once: nothing is pending."""

    def get(self, namespace: str, name: str) -> V | None:
        """Return the value of an object."""
        return self._all.get(namespace, {}).get(name)

    def within(self, namespace: str) -> Mapping[str, V]:
        """Return the values of the objects of a namespace, by name."""
        return self._all.get(namespace, {})
