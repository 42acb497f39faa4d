"""Requests that arrive together do not make one long turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import cast

import pytest

from hydrofoil import engine
from hydrofoil.clock import stopwatch
from hydrofoil.pace.arrivals import ArrivalPacer
from hydrofoil.pace.shares import ARRIVALS
from hydrofoil.pace.turn import current_turn

COST = 0.00035
"""The seconds that each request takes."""


def spin(seconds: float) -> None:
    """Use the loop."""
    end = stopwatch() + seconds
    while stopwatch() < end:
        pass


class Requests:
    """Requests that begin together; the clock moves only while one works."""

    def __init__(self) -> None:
        self.now = 100.0
        self.turn = 0
        self.began = 0.0
        """When the present turn began; 0 before its first request."""
        self.pacer = ArrivalPacer(cast(engine.RequestClock, self), cast(engine.LoopTurns, self))
        self.order: list[int] = []
        self.begun: Counter[int] = Counter()
        """How many began in each turn of the loop."""

    def seconds(self) -> float:
        """Return the time of requests, as its clock does."""
        return self.now

    def full(self) -> bool:
        """Report whether the turn is used up, as the native turns do."""
        if not self.began:
            self.began = self.now
            asyncio.get_running_loop().call_soon(self.end)
        return self.now - self.began > ARRIVALS

    def end(self) -> None:
        self.began = 0.0

    async def request(self, number: int) -> None:
        if self.pacer.waiting or self.pacer.is_full():
            await self.pacer.wait()
        self.order.append(number)
        self.begun[self.turn] += 1
        self.now += COST

    async def run(self, count: int) -> None:
        async def count_turns() -> None:
            while True:
                await asyncio.sleep(0)
                self.turn += 1

        turns = asyncio.create_task(count_turns())
        await asyncio.gather(*(self.request(number) for number in range(count)))
        turns.cancel()


@pytest.fixture
def crowd() -> Requests:
    return Requests()


async def test_a_crowd_is_spread(crowd: Requests) -> None:
    await crowd.run(200)
    assert crowd.order == list(range(200))
    assert max(crowd.begun.values()) * COST <= 4 * ARRIVALS
    # Each turn has work for most of its time: a crowd is not served one by one.
    assert 200 / len(crowd.begun) * COST >= ARRIVALS / 2


async def test_a_few_do_not_wait(crowd: Requests) -> None:
    for _ in range(50):
        await crowd.run(3)
        assert list(crowd.begun.values()) == [3]
        crowd.begun.clear()


async def test_those_that_leave_are_passed_over(crowd: Requests) -> None:
    tasks = [asyncio.create_task(crowd.request(number)) for number in range(60)]
    await asyncio.sleep(0)
    for task in tasks[20:40]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert set(crowd.order) >= {*range(20), *range(40, 60)}
    assert crowd.order == sorted(crowd.order)


async def test_without_levels_the_turns_are_its_own() -> None:
    pacer = ArrivalPacer(current_turn().request_clock)
    assert not pacer.is_full()
    spin(ARRIVALS)
    assert pacer.is_full()
    await asyncio.wait_for(pacer.wait(), 5)
    await asyncio.sleep(0)
    assert not pacer.is_full()


async def test_watchers_take_nothing_of_a_turn() -> None:
    """Else one request a turn would be served while thousands of watchers are."""
    clock = current_turn().request_clock
    begun = clock.seconds()
    current_turn().watchers.run(lambda: spin(0.2))
    assert clock.seconds() - begun < 0.1


@pytest.mark.parametrize("what", ["seconds", "end"])
async def test_a_turn_that_fails_holds_no_request_for_ever(what: str, caplog: pytest.LogCaptureFixture) -> None:
    """A fault of the clock, or of the end of a turn, is one turn's: those that wait begin in the next."""
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    requests = Requests()
    working = getattr(requests, what)
    failed: list[str] = []

    def fail() -> float | None:
        if not failed:
            failed.append(what)
            raise RuntimeError("no")
        found: float | None = working()
        return found

    setattr(requests, what, fail)
    requests.pacer.mark()
    async with asyncio.timeout(10):
        await asyncio.gather(*(requests.request(number) for number in range(40)))
    assert failed == [what]
    assert requests.order == list(range(40))
