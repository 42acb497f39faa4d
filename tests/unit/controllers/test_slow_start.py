"""Batches that double (`pkg/controller/replicaset/replica_set_test.go`, TestSlowStartBatch)."""

from __future__ import annotations

import asyncio

import pytest

from hydrofoil.controllers.slow_start import WIDTH, run_batch, slow_start
from hydrofoil.errors import ApiError, bad_request


@pytest.mark.parametrize(
    ("count", "refused_from", "calls", "successes"),
    [
        (0, 0, 0, 0),
        (1, 1, 1, 1),
        (10, 10, 10, 10),
        (1, 0, 1, 0),
        (10, 0, 1, 0),
        (10, 1, 3, 1),
        (10, 5, 7, 5),
        (40, 16, 31, 16),
    ],
)
async def test_no_batch_follows_a_refusal(count: int, refused_from: int, calls: int, successes: int) -> None:
    numbers: list[int] = []

    async def write(number: int) -> None:
        numbers.append(number)
        if number >= refused_from:
            raise bad_request(f"no {number}")

    result = await slow_start(count, write)
    assert numbers == list(range(calls)) and result.successes == successes
    assert (result.failure and result.failure.message) == (f"no {refused_from}" if successes < count else None)


async def test_writes_that_wait_do_so_side_by_side() -> None:
    waiting, most = 0, 0

    async def write(_: int) -> None:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        await asyncio.sleep(0)
        waiting -= 1

    assert (await run_batch(100, write)).successes == 100
    assert most == WIDTH


async def test_what_is_no_refusal_ends_the_batch() -> None:
    class Gone(Exception):
        pass

    async def write(number: int) -> None:
        if number == 3:
            raise Gone
        if number == 1:
            raise ApiError(403, "Forbidden", "no")

    with pytest.raises(Gone):
        await run_batch(8, write)
