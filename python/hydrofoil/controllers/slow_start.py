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


async def run_batch(count: int, write: Callable[[int], Awaitable[None]]) -> BatchResult:
    """Call a function with the numbers below `count`, however many of the calls are refused."""
    left = iter(range(count))
    failures: list[ApiError] = []

    async def run() -> None:
        pacer = Pacer()
        for number in left:
            try:
                await write(number)
            except ApiError as e:
                failures.append(e)
            await pacer.pause()

    if count == 1:
        await run()
    else:
        # Most writes never wait: then the first task makes them all, turn by turn, and the others end at once.
        ends = await asyncio.gather(*(run() for _ in range(min(count, WIDTH))), return_exceptions=True)
        for end in ends:
            if end is not None:
                raise end
    return BatchResult(count - len(failures), failures[0] if failures else None)


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
