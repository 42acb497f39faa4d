"""The view of one resource: the same over every log."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, NamedTuple

from hydrofoil import engine
from hydrofoil.engine import Change, Draft, ListCursor, ResourceType, Selector, Shard, Stored, Watcher
from hydrofoil.storage.errors import Behind, Conflict, Expired, Future, Missing
from hydrofoil.storage.log import Log, Name


class Stats(NamedTuple):
    """Sizes of a collection."""

    objects: int
    bytes: int
    watchers: int


class Collection:
    """The objects of one resource, read from the view and written through the log."""

    def __init__(self, name: Name, shard: Shard, log: Log, waiting: Callable[[Collection], None]) -> None:
        """Call `waiting` at the first wait: then `reached` is to be called whenever the view advances."""
        self._name = name
        self._shard = shard
        self._log = log
        self._commit = log.commit
        self._direct = log.direct
        self._begin = waiting
        self._waiters: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self.loading: asyncio.Future[None] | None = None
        """Done when the collection is followed; None once it is."""

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

        Raise Behind if that takes longer than the log's patience, Unavailable.
        """
        if self.ready(revision):
            return
        wanted = revision
        try:
            async with asyncio.timeout(self._log.patience):
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
        """Return the present version of an object, shown as `resource`."""
        return self._shard.get(resource, namespace, name)

    def list(
        self, resource: ResourceType, selector: Selector, form: str, limit: int, revision: int, start: str
    ) -> ListCursor:
        """Return a list at a revision (0: the present). Raise Expired, Future."""
        try:
            return self._shard.list(resource, selector, form, limit, revision, start)
        except engine.ExpiredError as e:
            raise Expired(*e.args) from None
        except engine.FutureError as e:
            raise Future(*e.args) from None

    def watch(
        self, resource: ResourceType, selector: Selector, form: str, revision: int | None, token: int, framed: bool
    ) -> Watcher:
        """Return a cursor after a revision, or with initial events if it is None. Raise Expired."""
        try:
            return self._shard.watch(resource, selector, form, revision, token, framed)
        except engine.ExpiredError as e:
            raise Expired(*e.args) from None

    def create(self, draft: Draft) -> Coroutine[Any, Any, Stored]:
        """Store a new object. Raise Exists, Unavailable, Unknown; like the others, return when the view shows it."""
        return self._commit(Change.create(self._shard, draft))

    def update(self, old: Stored, draft: Draft) -> Coroutine[Any, Any, Stored]:
        """Replace `old`; equal content is not written again. Raise Missing, Conflict, Unavailable, Unknown."""
        change = Change.update(self._shard, old, draft)
        same = change.unchanged
        return self._commit(change) if same is None else self._unchanged(same)

    async def _unchanged(self, stored: Stored) -> Stored:
        """Check an unwritten object as well: it must be the present version. Raise Missing, Conflict, Behind."""
        if not self.ready():
            await self.wait()
            revision = self._shard.standing(stored)
            if revision != stored.revision:
                raise Conflict if revision else Missing
        return stored

    def delete(self, old: Stored) -> Coroutine[Any, Any, Stored]:
        """Remove `old`; return its last state at the revision of the deletion. Raise Missing, Conflict, as `update`."""
        return self._commit(Change.delete(self._shard, old))

    async def reindex(self, resource: ResourceType) -> None:
        """Compute the selectable fields of every object by the present definition.

        The change is effective at once, just before the return.
        """
        loop = asyncio.get_running_loop()
        while not self._shard.adopt(resource, await loop.run_in_executor(None, self._shard.reindexed, resource)):
            pass

    def stats(self) -> Stats:
        """Return the sizes."""
        return Stats._make(self._shard.size())
