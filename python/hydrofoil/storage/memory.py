"""The default backend: the native tree itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from hydrofoil import engine
from hydrofoil.engine import Draft, ListCursor, ResourceType, Selector, Stored, Watcher
from hydrofoil.storage.backend import Conflict, Exists, Expired, Future, Missing

EPOCH = 1_767_225_600
"""2026-01-01: revisions start at the microseconds since then."""


def first_revision() -> int:
    """Where a new store starts to count, so that versions from before a restart have expired.

    No run writes more than once a microsecond on average, so that no version is ever given out twice.
    """
    return time.time_ns() // 1000 - EPOCH * 1_000_000


class MemoryBackend:
    """Objects in this process, gone with it.

    `wake` is called when a write left watchers waiting; it may be called often and must be cheap.
    """

    def __init__(
        self, *, window: float = 300.0, events: int = 200_000, memory: int = 256 << 20, cache: int | None = None
    ) -> None:
        self._store = engine.Store(first_revision(), window, events, memory, cache)
        self._collections: dict[tuple[str, str], MemoryCollection] = {}
        self.wake: Callable[[], None] = lambda: None

    def collection(self, resource: ResourceType, name: tuple[str, str]) -> MemoryCollection:
        found = self._collections.get(name)
        if found is None:
            found = self._collections[name] = MemoryCollection(self, self._store.shard("/".join(name)))
        return found

    @property
    def revision(self) -> int:
        return self._store.revision

    def take_woken(self) -> list[int]:
        return self._store.take_woken()

    def written(self) -> None:
        """Passes the word on after a write."""
        if self._store.has_woken():
            self.wake()


class MemoryCollection:
    """One shard of the native store."""

    def __init__(self, backend: MemoryBackend, shard: engine.Shard) -> None:
        self._backend = backend
        self._shard = shard

    async def create(self, draft: Draft) -> Stored:
        try:
            stored = self._shard.create(draft)
        except engine.ExistsError:
            raise Exists from None
        self._backend.written()
        return stored

    async def update(self, old: Stored, draft: Draft) -> Stored:
        try:
            stored = self._shard.update(old, draft)
        except engine.MissingError:
            raise Missing from None
        except engine.ConflictError:
            raise Conflict from None
        self._backend.written()
        return stored

    async def delete(self, old: Stored) -> Stored:
        try:
            stored = self._shard.delete(old)
        except engine.MissingError:
            raise Missing from None
        except engine.ConflictError:
            raise Conflict from None
        self._backend.written()
        return stored

    def get(self, resource: ResourceType, namespace: str, name: str) -> Stored | None:
        return self._shard.get(resource, namespace, name)

    def list(
        self, resource: ResourceType, selector: Selector, form: str, limit: int, revision: int, start: str
    ) -> ListCursor:
        try:
            return self._shard.list(resource, selector, form, limit, revision, start)
        except engine.ExpiredError as e:
            raise Expired(*e.args) from None
        except engine.FutureError as e:
            raise Future(*e.args) from None

    def watch(
        self, resource: ResourceType, selector: Selector, form: str, revision: int | None, token: int, framed: bool
    ) -> Watcher:
        try:
            return self._shard.watch(resource, selector, form, revision, token, framed)
        except engine.ExpiredError as e:
            raise Expired(*e.args) from None

    async def reindex(self, resource: ResourceType) -> None:
        loop = asyncio.get_running_loop()
        while not self._shard.adopt(resource, await loop.run_in_executor(None, self._shard.reindexed, resource)):
            pass

    def size(self) -> tuple[int, int, int]:
        return self._shard.size()
