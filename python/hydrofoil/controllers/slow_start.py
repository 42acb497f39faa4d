"""Many like writes: few at first, and more as they succeed (`pkg/controller/replicaset/replica_set.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer

INITIAL = 1
"""The writes of the first batch (`SlowStartInitialBatchSize`)."""
WIDTH = 16
"""How many writes of a batch wait side by side, for webhooks or for a log on another machine."""


class BatchResult(NamedTuple):
    """What became of a batch."""

    successes: int
    failure: ApiError | None
    """The first refusal."""


class Batch:
    """Calls of a function with numbers, one after another until one of them waits, and then side by side.

    Most writes never wait. Made one after another in the task of the caller, they are made before the work that is
    queued behind it begins, as long as it has time.
    """

    def __init__(self, count: int, write: Callable[[int], Awaitable[None]]) -> None:
        self._left = iter(range(count))
        self._write = write
        self.failures: list[ApiError] = []
        self._turned = False
        """Whether the loop has begun another turn."""

    def _turn(self) -> None:
        self._turned = True

    async def _call(self, number: int) -> None:
        try:
            await self._write(number)
        except ApiError as e:
            self.failures.append(e)

    async def _run(self) -> None:
        """Make calls while there are any."""
        pacer = Pacer()
        for number in self._left:
            await self._call(number)
            await pacer.pause()

    async def run(self) -> None:
        """Make all calls. Raise what one of them raises that is no refusal."""
        loop, pacer = asyncio.get_running_loop(), Pacer()
        for number in self._left:
            self._turned = False
            mark = loop.call_soon(self._turn)
            await self._call(number)
            if self._turned:
                break
            mark.cancel()
            await pacer.pause()
        ends = (
            await asyncio.gather(*(self._run() for _ in range(WIDTH)), return_exceptions=True) if self._turned else ()
        )
        for end in ends:
            if end is not None:
                raise end


async def run_batch(count: int, write: Callable[[int], Awaitable[None]]) -> BatchResult:
    """Call a function with the numbers below `count`, however many of the calls are refused."""
    batch = Batch(count, write)
    await batch.run()
    return BatchResult(count - len(batch.failures), batch.failures[0] if batch.failures else None)


async def slow_start(count: int, write: Callable[[int], Awaitable[None]], initial: int = INITIAL) -> BatchResult:
    """Call a function in batches, each twice as large as the last one; none follows one with a refusal.

    So a thousand writes that a quota refuses are one, and not a thousand. What else a call raises ends all.
    """
    numbers, successes, size = iter(range(count)), 0, min(initial, count)
    while size > 0:
        result = await run_batch(size, lambda _: write(next(numbers)))
        successes += result.successes
        if result.failure is not None:
            return BatchResult(successes, result.failure)
        size = min(2 * size, count - successes)
    return BatchResult(successes, None)
