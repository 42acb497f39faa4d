"""All that a server knows of what a log has: its collections, and when they go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hydrofoil.clock import Clock
from hydrofoil.engine import ResourceType, View
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.log import Log, Name, key


class Storage:
    """The collections of one server over one log.

    `wake` is called by the loop when watchers have something to be drained; it may be called often and must be cheap.
    """

    def __init__(
        self,
        log: Log,
        clock: Clock,
        *,
        window: float = 300.0,
        events: int = 200_000,
        memory: int = 256 << 20,
        cache: int | None = None,
    ) -> None:
        self._log = log
        self._clock = clock
        self._view = View(window, events, memory, cache, clock.native)
        self._collections: dict[Name, Collection] = {}
        self._waiting: set[Collection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.wake: Callable[[], None] = lambda: None
        self.direct = self._log.direct
        """Whether the view is always as far as the truth."""

    async def open(self) -> None:
        """Begin. Raises what the log raises when it cannot."""
        await self._log.open(self._view, self._clock, self.advanced)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._view.fileno(), self._signalled)

    async def close(self) -> None:
        """End what feeds the view; what it has can still be read."""
        if self._loop is not None:
            self._loop.remove_reader(self._view.fileno())
            self._loop = None
            await self._log.close()

    def collection(self, name: Name, resource: ResourceType) -> Collection:
        """The collection of that name, followed from when it is first asked for."""
        found = self._collections.get(name)
        if found is None:
            if self._loop is None:
                raise RuntimeError("a storage has no collections before it was opened")
            found = self._collections[name] = Collection(
                name, self._view.shard(key(name)), self._log, self._waiting.add
            )
            following = self._log.follow(name, resource)
            if following is not None:
                found.loading = asyncio.ensure_future(following)
                found.loading.add_done_callback(lambda done: self._followed(found, done))
        return found

    def _followed(self, collection: Collection, done: asyncio.Future[None]) -> None:
        # What failed stays, and is told to all who wait for it.
        if not done.cancelled() and done.exception() is None:
            collection.loading = None
            self.advanced()

    def ready(self) -> bool:
        """Whether every collection is as far as the truth is now."""
        return self.direct or all(c.ready() for c in self._collections.values())

    async def wait(self) -> None:
        """Wait until every collection is as far as the truth is at this call. Raises Behind, Unavailable."""
        await asyncio.gather(*(c.wait() for c in self._collections.values() if not c.ready()))

    def advanced(self) -> None:
        """Pass the word on that the view has gone on."""
        if self._waiting:
            self._waiting -= {collection for collection in self._waiting if collection.reached()}
        if self._view.has_woken():
            self.wake()

    def _signalled(self) -> None:
        # First, so that what is applied meanwhile is told again.
        self._view.clear()
        self.advanced()

    def take_woken(self) -> list[int]:
        """The tokens of the watchers that have events waiting."""
        return self._view.take_woken()

    def problem(self) -> str:
        """What is wrong with the log; empty when nothing is."""
        return self._log.problem()

    def compact(self) -> None:
        """End the history of the view now."""
        self._log.compact()
