"""Turns of the writers of one large object: work off the loop is lost if another write precedes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

Key = tuple[tuple[str, str], str, str]
"""The collection, namespace and name of an object."""


class Turns:
    """One writer of an object at a time, in the order of their calls; nothing is kept of an object without writers."""

    def __init__(self) -> None:
        self._locks: dict[Key, asyncio.Lock] = {}
        self._writers: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self._locks)

    @asynccontextmanager
    async def of(self, key: Key) -> AsyncIterator[None]:
        """Wait for a turn, and keep it until the end of the block.

        A turn lasts from one read of the object to one attempt to write it; the consequences of the write are after it.
        """
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._writers[key] = self._writers.get(key, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._writers[key] -= 1
            if not self._writers[key]:
                del self._writers[key], self._locks[key]
