"""The guard of the loop's turns measures correctly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from hydrofoil.pace.pacer import Pacer
from tests import machine
from tests.turns import Turns, short_turns


def spin(seconds: float) -> None:
    """Use the processor."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def works() -> None:
    """Stands for a callback of the server."""
    spin(0.02)


works.__module__ = "hydrofoil.works"


@pytest.fixture(autouse=True)
def turns() -> None:
    """Replace the guard: these tests have turns of their own."""


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the machine for a quiet one, whatever it does."""
    monkeypatch.setattr(machine, "slowness", lambda: 1.0)


async def turn_of(*callbacks: Callable[[], object]) -> None:
    loop = asyncio.get_running_loop()
    for callback in callbacks:
        loop.call_soon(callback)
    await asyncio.sleep(0)
    await asyncio.sleep(0)


@pytest.mark.usefixtures("quiet")
async def test_a_long_turn_is_found() -> None:
    with Turns(0.01) as found:
        await turn_of(works)
    assert len(found.long) == 1 and "works" in found.long[0]


@pytest.mark.usefixtures("quiet")
async def test_the_callbacks_of_a_turn_count_together() -> None:
    with Turns(0.03) as found:
        await turn_of(works, works)
    assert len(found.long) == 1


async def test_what_the_test_does_itself_does_not_count() -> None:
    with Turns(0.01) as found:
        await turn_of(lambda: spin(0.02))
    assert found.long == []


@pytest.mark.usefixtures("quiet")
async def test_the_test_fails() -> None:
    with pytest.raises(AssertionError, match="a turn of"), short_turns(0.01):
        await turn_of(works)


async def test_a_slower_machine_has_as_much_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "slowness", lambda: 4.0)
    with Turns(0.01) as found:
        await turn_of(works)
        await turn_of(works, works, works)
    assert len(found.long) == 1


def test_what_a_machine_is_measured_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """The median counts, and a fast machine has no less."""
    times = iter([9.0, 3 * machine.QUIET, 0.1 * machine.QUIET, 0.1 * machine.QUIET, 5.0, 0.2 * machine.QUIET])
    monkeypatch.setattr(machine, "yardstick", lambda: next(times))
    assert machine.slowness(3) == pytest.approx(3)
    assert machine.slowness(3) == 1


async def test_paced_work_gives_turns() -> None:
    """Work in pieces lets the loop continue within a few milliseconds."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    pacer = Pacer()
    for _ in range(20):
        spin(0.001)
        await pacer.pause()
    task.cancel()
    assert turns >= 5
