"""State that follows events: right after a start on full storage, when another server wrote, and after a restore."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, Protocol, TypeVar

from hydrofoil.clock import Pace
from hydrofoil.engine import ResourceType, Selector, Stored, Watcher
from hydrofoil.errors import FAULTS
from hydrofoil.storage.collection import Collection
from hydrofoil.watch.hub import INITIAL_END, LAPPED, Hub

LOG = logging.getLogger("hydrofoil")
BATCH = 256
"""How many changes are taken at a time."""
V = TypeVar("V")


class State(Protocol):
    """A function of objects: it does not wait, write or read the time."""

    def replace(self, objects: Iterable[Stored]) -> None:
        """Take in all there is, at first and when the history has passed by; nothing else is there any more."""

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Take in a change: what there was, and what there is now."""

    async def settle(self) -> None:
        """Wait until what `apply` sent to the pool is in."""


S = TypeVar("S", bound=State)


class Followed(Generic[S]):
    """A state, and the collection that it is a function of."""

    urgent = False
    subject = None

    def __init__(self, collection: Collection, resource: ResourceType, state: S, hub: Hub) -> None:
        self._collection = collection
        self._resource = resource
        self._state = state
        self._hub = hub
        self._token = hub.token()
        self._calls: list[Callable[[], None]] = []
        self._loaded: list[Stored] | None = []
        """The present state as far as it was given; None when it was taken in."""
        self._taking = False
        self._changed = False
        """Whether who waits for changes has not been told yet."""
        self._watcher = self._watch()
        hub.add(self._token, self)
        if collection.loading is not None:
            # What is loaded is no event.
            collection.loading.add_done_callback(lambda _: self._anew())

    def _anew(self) -> None:
        self._watcher = self._watch()
        self._hub.again(self._token)

    def _watch(self) -> Watcher:
        everything = Selector(self._resource, "", "", "")
        self._loaded = []
        return self._collection.watch(self._resource, everything, "json", None, self._token, False)

    @property
    def state(self) -> S:
        """The state as the view is at this call: what waits is applied first."""
        while self._watcher.waits() and not self._taking:
            self._take()
        return self._state

    async def fresh(self) -> S:
        """The state as the truth was at this call, settled; long backlogs are taken in in pieces.

        Raises Behind and Unavailable.
        """
        if not self._collection.ready():
            await self._collection.wait()
        pace = Pace()
        while self._watcher.waits():
            self._take()
            await pace.rest()
        await self._state.settle()
        return self._state

    def on_change(self, call: Callable[[], None]) -> None:
        """Have something called once a turn in which the state has changed, after it has."""
        self._calls.append(call)

    def _take(self) -> None:
        """Take in a batch of what waits. A state that fails is built anew from all there is at the next call."""
        changes, left = self._watcher.changes(BATCH)
        # Who is told of a change by the state itself reads it as far as it is.
        self._taking = True
        if not self._changed:
            self._changed = True
            self._hub.again(self._token)
        try:
            if self._loaded is not None:
                self._loaded += [new for _, new in changes if new is not None]
                if left == INITIAL_END:
                    loaded, self._loaded = self._loaded, None
                    self._state.replace(loaded)
            elif left == LAPPED:
                self._watcher = self._watch()
            else:
                for old, new in changes:
                    self._state.apply(old, new)
        except FAULTS:
            self._watcher = self._watch()
            raise
        finally:
            self._taking = False

    def pump(self) -> None:
        """Take in what waits and say so; the hub calls this when something does."""
        if self._pieces():
            self._hub.again(self._token)
        elif self._changed:
            self._changed = False
            for call in self._calls:
                try:
                    call()
                except FAULTS:
                    LOG.exception("what follows a change failed")

    def _pieces(self) -> bool:
        """Take in what waits for as long as nobody else is due; whether more does."""
        pace = Pace()
        while self._watcher.waits():
            self._take()
            if pace.due():
                return self._watcher.waits()
        return False

    def bookmark(self) -> None:
        """Nobody reads how far it is."""

    def cut(self) -> None:
        """What it follows goes on, in whatever form."""

    def end(self) -> None:
        """Follow no longer."""
        self._hub.remove(self._token)


class Table(Generic[V]):
    """The state that most rooms need: what is made of each object, by namespace and name."""

    def __init__(self, make: Callable[[Stored], V]) -> None:
        self._make = make
        self._all: dict[str, dict[str, V]] = {}

    def replace(self, objects: Iterable[Stored]) -> None:
        """Take in all there is."""
        self._all.clear()
        for stored in objects:
            self.apply(None, stored)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Take in a change."""
        if new is not None:
            self._all.setdefault(new.namespace, {})[new.name] = self._make(new)
        elif old is not None and (within := self._all.get(old.namespace)) is not None:
            within.pop(old.name, None)
            if not within:
                del self._all[old.namespace]

    async def settle(self) -> None:
        """All of it is in at once."""

    def get(self, namespace: str, name: str) -> V | None:
        """What was made of an object."""
        return self._all.get(namespace, {}).get(name)

    def within(self, namespace: str) -> Mapping[str, V]:
        """What was made of the objects of a namespace, by name."""
        return self._all.get(namespace, {})
