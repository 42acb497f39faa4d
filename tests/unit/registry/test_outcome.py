"""An allocation hears of the outcome of its write."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from hydrofoil.engine import Stored
from hydrofoil.registry.outcome import Made, outcome
from hydrofoil.storage.errors import Unknown

STORED = cast(Stored, object())


class Allocation:
    """Notes how its write ended."""

    def __init__(self) -> None:
        self.done: list[bool] = []

    async def finish(self, done: bool) -> None:
        """Take in how the write ended."""
        self.done.append(done)


async def made(written: bool = True, fault: BaseException | None = None, gate: asyncio.Event | None = None) -> Made:
    """A write."""
    if gate is not None:
        await gate.wait()
    if fault is not None:
        raise fault
    return STORED, written


async def test_a_write_that_was_done_and_one_that_was_a_dry_run() -> None:
    allocation = Allocation()
    assert await outcome(made(), allocation.finish, set()) is STORED
    await outcome(made(written=False), allocation.finish, set())
    assert allocation.done == [True, False]


async def test_what_failed_is_given_back() -> None:
    allocation = Allocation()
    with pytest.raises(ValueError, match="refused"):
        await outcome(made(fault=ValueError("refused")), allocation.finish, set())
    assert allocation.done == [False]


async def test_of_what_nobody_can_tell_nothing_is_given_back() -> None:
    allocation = Allocation()
    with pytest.raises(Unknown):
        await outcome(made(fault=Unknown("lost")), allocation.finish, set())
    assert allocation.done == []


async def test_a_write_goes_on_when_its_caller_has_gone() -> None:
    allocation, gate, under_way = Allocation(), asyncio.Event(), set[asyncio.Task[Any]]()
    caller = asyncio.create_task(outcome(made(gate=gate), allocation.finish, under_way))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    (write,) = under_way
    gate.set()
    await write
    assert allocation.done == [True]
    await asyncio.sleep(0)
    assert under_way == set()
