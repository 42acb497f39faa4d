"""Locks of objects for writes that leave the loop: a write that commits meanwhile would void their work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

Key = tuple[tuple[str, str], str, str]
"""The collection, namespace and name of an object."""


class ObjectLocks:
    """One writer of an object at a time, in the order of their calls; nothing is kept of an object without writers.

    Without them, writers of one large object, each of which prepares its attempt on a thread, conflict with each other
    until only one is left: the work grows with the square of their number. Writes on the loop need no lock: nothing
    runs between their read and their commit.
    """

    def __init__(self) -> None:
        self._locks: dict[Key, asyncio.Lock] = {}
        self._writers: dict[Key, int] = {}
        """The writers that have a lock or wait for it; the last one removes it."""

    def __len__(self) -> int:
        return len(self._locks)

    @asynccontextmanager
    async def of(self, key: Key) -> AsyncIterator[None]:
        """Wait for the lock of an object, and keep it until the end of the block.

        It is kept from one read of the object to one attempt to write it, and no longer: the consequences of a write
        may write the same object.
        """
        # Made with the first writer and dropped with the last, so that there are as many as writes under way.
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._writers[key] = self._writers.get(key, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._writers[key] -= 1
            if not self._writers[key]:
                del self._writers[key], self._locks[key]
