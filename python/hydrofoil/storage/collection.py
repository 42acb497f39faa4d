"""The view of one resource: the same over every log."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, NamedTuple

from hydrofoil import engine
from hydrofoil.clock import stopwatch
from hydrofoil.counting import Histogram
from hydrofoil.engine import Change, Draft, ListCursor, ResourceType, Selector, Shard, Stored, Watcher
from hydrofoil.pool import run
from hydrofoil.storage.errors import Behind, Conflict, Expired, Future, Missing
from hydrofoil.storage.local import LocalLog
from hydrofoil.storage.log import Log, Name
from hydrofoil.storage.places import place
from hydrofoil.storage.sizes import Bound
from hydrofoil.storage.unreadable import Fault, Words

WAITS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3)
"""The buckets of waits for a view, in seconds (apiserver `storage/cacher/metrics`)."""
BUCKETS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60)
"""The buckets of the durations of writes, in seconds (apiserver `storage/etcd3/metrics`)."""


class Uses:
    """The uses of a collection since the start."""

    __slots__ = ("consistent", "fetched", "lagged", "lists", "loaded", "loads", "returned", "waited", "writes")

    def __init__(self) -> None:
        self.lists = 0
        self.consistent = 0
        """The number of lists of the present state, whatever that is."""
        self.lagged = 0
        """The number of such lists that were refused because the view did not reach it in time."""
        self.fetched = 0
        """The number of objects that lists were taken from."""
        self.returned = 0
        """The number of objects in lists."""
        self.loads = 0
        """How often the collection was read from the log."""
        self.loaded = 0
        """The number of objects that this gave."""
        self.waited: Histogram | None = None
        """The waits for the view in seconds; None without any."""
        self.writes: dict[str, Histogram] = {}
        """The durations of writes, by operation."""

    def copy(self) -> Uses:
        """Return the present state."""
        found = Uses()
        for name in ("consistent", "fetched", "lagged", "lists", "loaded", "loads", "returned"):
            setattr(found, name, getattr(self, name))
        found.waited = None if self.waited is None else self.waited.copy()
        found.writes = {operation: row.copy() for operation, row in self.writes.items()}
        return found

    def count_lists(self, lists: int) -> None:
        """Count lists at a known version."""
        self.lists += lists

    def count_consistent_lists(self, lists: int) -> None:
        """Count lists of the present state."""
        self.lists += lists
        self.consistent += lists

    def count_items(self, fetched: int, returned: int) -> None:
        """Count the objects that lists were taken from, and those in them."""
        self.fetched += fetched
        self.returned += returned

    def wait(self, seconds: float) -> None:
        """Count a wait for the view."""
        if self.waited is None:
            self.waited = Histogram(WAITS)
        self.waited.observe(seconds)


class Stats(NamedTuple):
    """Sizes of a collection."""

    objects: int
    bytes: int
    watchers: int


def _key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


class Collection:
    """The objects of one resource, read from the view and written through the log."""

    def __init__(
        self, name: Name, shard: Shard, log: Log, waiting: Callable[[Collection], None], words: Words, bound: Bound
    ) -> None:
        """Call `waiting` at the first wait: then `reached` is to be called whenever the view advances."""
        self._name = name
        self._shard = shard
        self._log = log
        self._commit = log.commit
        self._local = log if isinstance(log, LocalLog) else None
        self._direct = log.direct
        self._guarded = log.guarded
        self._words = words
        self._bound = bound
        self._begin = waiting
        self._waiters: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self.uses = Uses()
        self.loading: asyncio.Future[None] | None = None
        """Done when the collection is followed; None once it is."""

    @property
    def shard(self) -> Shard:
        """Return the objects, for native code that reads them."""
        return self._shard

    @property
    def is_guarded(self) -> bool:
        """Report whether there may be objects that cannot be read."""
        return self._guarded is not None

    @property
    def revision(self) -> int:
        """Return the revision of the view; comparable within the collection only."""
        return self._shard.revision

    def ready(self, revision: int | None = None) -> bool:
        """Report whether the view is at a revision; None: at the log's latest, as far as that is known at once."""
        if revision is not None:
            return self._shard.revision >= revision and self.loading is None
        if self._direct:
            return True
        latest = self._log.latest(self._name)
        return latest is not None and self._shard.revision >= latest and self.loading is None

    async def wait(self, revision: int | None = None) -> None:
        """Wait until the view is at a revision; None: at the log's latest at this call.

        Raise Behind if that takes longer than the log's timeout for the revision, Unavailable.
        """
        if self.ready(revision):
            return
        wanted, begun = revision, stopwatch()
        try:
            async with asyncio.timeout(
                self._log.latest_revision_timeout if revision is None else self._log.known_revision_timeout
            ):
                if self.loading is not None:
                    await asyncio.shield(self.loading)
                if wanted is None:
                    wanted = self._log.latest(self._name)
                if wanted is None:
                    wanted = await self._log.ask(self._name)
                if self._shard.revision < wanted:
                    await self._reaching(wanted)
        except TimeoutError:
            raise Behind(revision, self._shard.revision) from None
        finally:
            self.uses.wait(stopwatch() - begun)

    def _reaching(self, revision: int) -> asyncio.Future[None]:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiters, (revision, next(self._numbers), waiter))
        self._begin(self)
        # Another thread may have advanced the view meanwhile.
        self.reached()
        return waiter

    def reached(self) -> bool:
        """Wake those who wait for a revision that is reached; report whether no wait is left."""
        waiters, revision = self._waiters, self._shard.revision
        while waiters and (waiters[0][0] <= revision or waiters[0][2].done()):
            waiter = heapq.heappop(waiters)[2]
            if not waiter.done():
                waiter.set_result(None)
        return not waiters

    def get(self, resource: ResourceType, namespace: str, name: str) -> Stored | None:
        """Return the present version of an object, shown as `resource`. Raise Unreadable."""
        found = self._shard.get(resource, namespace, name)
        if found is None and (fault := self.fault(namespace, name)) is not None:
            raise self._words.read(fault, place(self._name, _key(namespace, name)))
        return found

    def check_readable(self) -> None:
        """Raise Unreadable if any object cannot be read: lists and watches would lack it."""
        if self._guarded is not None and (faults := self._guarded.faults(self._name)):
            group, plural = self._name
            raise self._words.listed(faults, group, plural.removesuffix(f".{group}") if group else plural)

    def fault(self, namespace: str, name: str) -> Fault | None:
        """Return why an object that is not in the view cannot be read; None if it is absent."""
        return None if self._guarded is None else self._guarded.fault(self._name, _key(namespace, name))

    async def discard(self, resource: ResourceType, namespace: str, name: str, fault: Fault) -> None:
        """Delete an object that cannot be read. Raise Missing, Conflict, Unavailable, Unknown."""
        assert self._guarded is not None, "there is no fault without it"
        await self._guarded.discard(self._name, _key(namespace, name), fault.revision, resource)

    def list(
        self, resource: ResourceType, selector: Selector, form: str, limit: int, revision: int, start: str
    ) -> ListCursor:
        """Return a list at a revision (0: the present). Raise Expired, Future, Unreadable."""
        self.check_readable()
        try:
            return self._shard.list(resource, selector, form, limit, revision, start)
        except engine.ExpiredError as e:
            raise Expired(e.asked, e.oldest) from None
        except engine.FutureError as e:
            raise Future(e.asked, e.current) from None

    def watch(
        self, resource: ResourceType, selector: Selector, form: str, revision: int | None, token: int, framed: bool
    ) -> Watcher:
        """Return a cursor after a revision, or with initial events if it is None. Raise Expired.

        Objects that cannot be read are absent: `check_readable` before a watch that must have all.
        """
        try:
            return self._shard.watch(resource, selector, form, revision, token, framed)
        except engine.ExpiredError as e:
            raise Expired(e.asked, e.oldest) from None

    @property
    def is_immediate(self) -> bool:
        """Report whether `put` is possible."""
        return self._local is not None

    @property
    def latest(self) -> int | None:
        """Return the revision of the latest write to any collection; None where others write, too."""
        return None if self._local is None else self._local.revision

    def put(self, old: Stored | None, draft: Draft) -> Stored | None:
        """Store an object within the call, in place of `old`; return None for one whose size has to be measured first.

        Raise Exists, Missing, Conflict.
        """
        assert self._local is not None, "it is immediate"
        begun = stopwatch()
        change = Change.create(self._shard, draft) if old is None else Change.update(self._shard, old, draft)
        if old is not None and (same := change.unchanged) is not None:
            return same
        if self._bound.most and self._bound.concerns(change):
            return None
        try:
            return self._local.put(change)
        finally:
            self._observe("create" if old is None else "update", stopwatch() - begun)

    def _observe(self, operation: str, seconds: float) -> None:
        found = self.uses.writes.get(operation)
        if found is None:
            found = self.uses.writes[operation] = Histogram(BUCKETS)
        found.observe(seconds)

    def create(self, draft: Draft) -> Coroutine[Any, Any, Stored]:
        """Store a new object. Raise Exists, Unavailable, Unknown; like the others, return when the view shows it."""
        return self._timed("create", Change.create(self._shard, draft))

    def update(self, old: Stored, draft: Draft) -> Coroutine[Any, Any, Stored]:
        """Replace `old`; equal content is written again only if its stored form is stale.

        Raise Missing, Conflict, Unavailable, Unknown.
        """
        change = Change.update(self._shard, old, draft)
        same = change.unchanged
        if same is None or (self._guarded is not None and self._guarded.stale(change)):
            return self._timed("update", change)
        return self.confirm(same)

    async def confirm(self, stored: Stored) -> Stored:
        """Return an object that is not written if it is the present version. Raise Missing, Conflict, Behind."""
        if not self.ready():
            await self.wait()
            revision = self._shard.standing(stored)
            if revision != stored.revision:
                raise Conflict if revision else Missing
        return stored

    def delete(self, old: Stored) -> Coroutine[Any, Any, Stored]:
        """Remove `old`; return its last state at the revision of the deletion. Raise Missing, Conflict, as `update`."""
        return self._timed("delete", Change.delete(self._shard, old))

    async def _timed(self, operation: str, change: Change) -> Stored:
        begun = stopwatch()
        if self._bound.most and self._bound.concerns(change):
            await run(self._bound.check, self._name, change, pooled=True)
        try:
            return await self._commit(change)
        finally:
            self._observe(operation, stopwatch() - begun)

    async def reindex(self, resource: ResourceType) -> None:
        """Compute the selectable fields of every object by the present definition.

        The change is effective at once, just before the return.
        """
        loop = asyncio.get_running_loop()
        while not self._shard.adopt(resource, await loop.run_in_executor(None, self._shard.reindexed, resource)):
            pass

    def filled(self) -> None:
        """Count that the view has what the log has of the collection: read from etcd or a disk, or nothing yet."""
        self.uses.loads += 1
        self.uses.loaded += self._shard.size()[0]

    def size(self) -> tuple[int, int, int]:
        """Return the numbers of objects, bytes and watchers."""
        return self._shard.size()

    def stats(self) -> Stats:
        """Return the sizes."""
        return Stats._make(self.size())
