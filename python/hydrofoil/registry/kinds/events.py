"""Events end a while after their last write (controlplane `--event-ttl`, which upstream implements by leases)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from hydrofoil.clock import Clock, Timer
from hydrofoil.engine import Stored
from hydrofoil.registry.store import Registry
from hydrofoil.storage.errors import StorageError
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

SLICE = 64
"""The number of events that are removed in a turn of the loop."""


class Due(NamedTuple):
    """An event as it was written."""

    at: float
    """The end of its time, in seconds of the clock."""
    namespace: str
    name: str
    revision: int


class Expiry:
    """The events in the order of their ends: all have the same time to live."""

    def __init__(self, registry: Registry, hub: Hub, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._due: deque[Due] = deque()
        self._timer: Timer | None = None
        self._removals: set[asyncio.Task[Any]] = set()
        self._at_once = registry.storage.at_once
        served = registry.catalog.find("", "v1", "events")
        self._resource = None if registry.storage.leases else served
        if self._resource is not None:
            self._collection = registry.collection(self._resource)
            self._followed = Followed(self._collection, self._resource.native, self, hub)

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present events, whose ages are unknown."""
        self._due.clear()
        for stored in objects:
            self.apply(None, stored)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change; a removed event is skipped at its end."""
        if new is None:
            return
        self._due.append(Due(self._clock.native.elapsed() + self._seconds, new.namespace, new.name, new.revision))
        if self._timer is None:
            self._wait()

    async def settle(self) -> None:
        """Return at once: nothing is pending."""

    def _wait(self) -> None:
        left = max(self._due[0].at - self._clock.native.elapsed(), 0.0)
        self._timer = self._clock.later(left, self._expire)

    def _expire(self) -> None:
        """Remove the events whose time has ended, some in each turn."""
        self._timer = None
        now = self._clock.native.elapsed()
        for _ in range(SLICE):
            # Timers have a resolution of their own.
            if not self._due or self._due[0].at > now + 0.001:
                break
            self._remove(self._due.popleft())
        if self._due:
            self._wait()

    def _remove(self, due: Due) -> None:
        """Remove an event unless it was written again."""
        assert self._resource is not None, "without events none is due"
        stored = self._collection.get(self._resource.native, due.namespace, due.name)
        if stored is None or stored.revision != due.revision:
            return
        work = self._collection.delete(stored)
        if self._at_once:
            # It completes within the call, so that what follows an advance of the clock sees it.
            with suppress(StopIteration, StorageError):
                work.send(None)
        else:
            task = asyncio.ensure_future(_remove_event(work))
            self._removals.add(task)
            task.add_done_callback(self._removals.discard)

    async def close(self) -> None:
        """Stop the timer and the removals."""
        if self._timer is not None:
            self._timer.cancel()
        if self._resource is not None:
            self._followed.end()
        for task in list(self._removals):
            task.cancel()
        await asyncio.gather(*self._removals, return_exceptions=True)


async def _remove_event(work: Coroutine[Any, Any, Stored]) -> None:
    """Remove an event; another server may have done so, or written it again."""
    with suppress(StorageError):
        await work
