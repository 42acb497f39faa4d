"""The storage of a server: the collections over one log, and their progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hydrofoil.clock import Clock
from hydrofoil.engine import Checkpoint, LinkOwner, Region, ResourceType, View
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.log import Log, Name, key
from hydrofoil.storage.sizes import Bound
from hydrofoil.storage.unreadable import Words

OWNER_PAUSE = 0.001
"""The seconds in which the events of workers' writes are gathered, for controllers and other readers in the owner."""


class Storage:
    """The collections of one server over one log."""

    def __init__(
        self,
        log: Log,
        clock: Clock,
        *,
        window: float = 300.0,
        events: int = 200_000,
        memory: int = 256 << 20,
        cache: int | None = None,
        max_write: int = 0,
        deletes_corrupt: bool = False,
    ) -> None:
        """Take the bounds of history and cache, and of each write in bytes; 0 for any size.

        `deletes_corrupt`: values that cannot be read may be deleted as they are.
        """
        self._log = log
        self._clock = clock
        self._view = View(window, events, memory, cache, clock.native)
        self._collections: dict[Name, Collection] = {}
        self._resources: dict[str, tuple[Collection, ResourceType]] = {}
        """Collections by their keys, with the type that reads their objects."""
        self.words = Words(corrupt=deletes_corrupt)
        """The errors of objects that cannot be read."""
        self.bound = Bound(max_write)
        """The bound of each write."""
        self._waiting: set[Collection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: Callable[[], None] = lambda: None
        self.catch_up = None if self._log.direct else self._log.catch_up
        """Bring the view up to all acknowledged writes, as far as that takes no time, and report whether it is there;
        None where it always is."""
        self.direct = self._log.direct
        """Whether the view is always up to date."""
        self.is_loaded = log.is_loaded
        """Whether collections have all that the log has from their first use on."""
        self.at_once = self._log.at_once
        """Whether a commit is complete within the call, and no object is older than this process."""
        self.is_awaited = True
        """Whether a client waits for the write that is committed now: its events are sent before its answer."""
        self.leases = self._log.leases
        """Whether the log ends events by itself, some time after their last write."""
        self._publishes = False
        """Whether other processes write here."""
        self.epoch = 0
        """The number of restores: a write that began before one is not committed after it."""

    async def open(self) -> None:
        """Open the log. Raise its error."""
        await self._log.open(self._view, self._clock, self.advanced)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._view.fileno(), self._signalled)

    @property
    def log(self) -> Log:
        """Return the log."""
        return self._log

    def publish(self, region: Region) -> LinkOwner:
        """Publish the view to other processes from now on; it is not open yet. Raise OSError."""
        self._publishes = True
        return LinkOwner(region, self._view)

    def followed(self, key: str) -> tuple[Collection, ResourceType] | None:
        """Return the collection of a key of the view, and a type of its objects; None if nobody has used it."""
        return self._resources.get(key)

    async def close(self) -> None:
        """Stop the feed; the view remains readable."""
        if self._loop is not None:
            self._loop.remove_reader(self._view.fileno())
            self._loop = None
            await self._log.close()
            self._view.close()

    def collection(self, name: Name, resource: ResourceType) -> Collection:
        """Return the collection of that name, followed from its first use."""
        found = self._collections.get(name)
        if found is None:
            if self._loop is None:
                raise RuntimeError("a storage has no collections before it was opened")
            found = self._collections[name] = Collection(
                name, self._view.shard(key(name)), self._log, self._waiting.add, self.words, self.bound
            )
            self._resources[key(name)] = found, resource
            following = self._log.follow(name, resource)
            if following is None:
                found.filled()
            else:
                found.loading = asyncio.ensure_future(following)
                found.loading.add_done_callback(lambda done: self._followed(found, done))
        return found

    def forget(self, name: Name) -> None:
        """Stop feeding a collection, and free its objects once nobody reads them any more."""
        if self._collections.pop(name, None) is not None:
            self._log.forget(name)
            self._view.forget(key(name))

    def _followed(self, collection: Collection, done: asyncio.Future[None]) -> None:
        # A failure is kept, and raised to all who wait for it.
        if not done.cancelled() and done.exception() is None:
            collection.loading = None
            collection.filled()
            self.advanced()

    async def loaded(self) -> None:
        """Wait until every collection so far is loaded, however long that takes. Raise the log's error."""
        while loading := [c.loading for c in self._collections.values() if c.loading is not None]:
            await asyncio.gather(*map(asyncio.shield, loading))
            # The loads end in the next turn.
            await asyncio.sleep(0)

    def started(self) -> None:
        """Report to the log that all collections that existed at the start are followed."""
        self._log.started()

    def is_current(self) -> bool:
        """Report whether the view has every acknowledged write; what takes no time to bring it there is done."""
        return self.catch_up is None or self.catch_up()

    def ready(self) -> bool:
        """Report whether every collection is at the log's latest revision."""
        return self.direct or all(c.ready() for c in self._collections.values())

    async def wait(self) -> None:
        """Wait until every collection is at the log's latest revision at this call. Raise Behind, Unavailable."""
        await asyncio.gather(*(c.wait() for c in self._collections.values() if not c.ready()))

    def advanced(self) -> None:
        """Report that the view has advanced."""
        if self._waiting:
            self._waiting -= {collection for collection in self._waiting if collection.reached()}
        if self._view.has_woken():
            self._wake()

    def _signalled(self) -> None:
        if self._publishes and self._loop is not None:
            # Workers write, and nobody waits here for the events: what comes within a while is one wake.
            self._loop.remove_reader(self._view.fileno())
            self._loop.call_later(OWNER_PAUSE, self._look)
            return
        # First, so that changes applied meanwhile are reported again.
        self._view.clear()
        self.advanced()

    def _look(self) -> None:
        if self._loop is not None:
            self._loop.add_reader(self._view.fileno(), self._signalled)
            self._view.clear()
            self.advanced()

    def subscribe(self, wake: Callable[[], None]) -> None:
        """Call a function of the loop from now on when watchers have events to drain; it is often called.

        There is one subscriber: `take_woken` gives each token once.
        """
        self._wake = wake

    def take_woken(self) -> list[int]:
        """Return the tokens of the watchers with waiting events."""
        return self._view.take_woken()

    def problem(self) -> str:
        """Return the problem of the log; empty if absent."""
        return self._log.problem()

    @property
    def revision(self) -> int:
        """Return the latest revision of all collections together."""
        return self.checkpoint().revision

    def checkpoint(self) -> Checkpoint:
        """Return the present state of all collections, which holds memory for later changes only."""
        return self._view.checkpoint()

    def restore(self, state: Checkpoint) -> int:
        """Return to a state of this storage at once; watchers see the differences as events. Return their number.

        Raise Unsupported.
        """
        changed = self._log.restore(state)
        self.epoch += 1
        return changed

    def compact(self) -> None:
        """End the history of the view now."""
        self._log.compact()
