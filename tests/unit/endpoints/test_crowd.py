"""Requests that arrive together do not make one long turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import cast

import pytest

from hydrofoil import engine
from hydrofoil.clock import TURN_SECONDS, stopwatch
from hydrofoil.endpoints import crowd as module
from hydrofoil.endpoints.crowd import Crowd

COST = 0.0005
"""The seconds that each request takes."""


class Requests:
    """Requests that begin together; the clock moves only while one works."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.turn = 0
        self.began = 0.0
        """When the present turn began; 0 before its first request."""
        self.crowd = Crowd(cast(engine.LoopTurns, self))
        self.order: list[int] = []
        self.begun: Counter[int] = Counter()
        """How many began in each turn of the loop."""
        monkeypatch.setattr(module, "stopwatch", lambda: self.now)

    def full(self) -> bool:
        """Report whether the turn is used up, as the native turns do."""
        if not self.began:
            self.began = self.now
            asyncio.get_running_loop().call_soon(self.end)
        return self.now - self.began > TURN_SECONDS

    def end(self) -> None:
        self.began = 0.0

    def apart(self, seconds: float) -> None:
        self.began += seconds

    async def request(self, number: int) -> None:
        if self.crowd.full:
            await self.crowd.wait()
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
def crowd(monkeypatch: pytest.MonkeyPatch) -> Requests:
    return Requests(monkeypatch)


async def test_a_crowd_is_spread(crowd: Requests) -> None:
    await crowd.run(200)
    assert crowd.order == list(range(200))
    assert max(crowd.begun.values()) * COST <= 4 * TURN_SECONDS
    # Each turn has work for most of its time: a crowd is not served one by one.
    assert 200 / len(crowd.begun) * COST >= TURN_SECONDS / 2


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
    crowd = Crowd()
    assert not crowd.full
    end = stopwatch() + 2 * TURN_SECONDS
    while stopwatch() < end:
        pass
    assert crowd.full
    await asyncio.wait_for(crowd.wait(), 5)
    await asyncio.sleep(0)
    assert not crowd.full


async def test_watchers_take_nothing_of_a_turn(crowd: Requests) -> None:
    """Else one request a turn would be served while thousands of watchers are."""

    async def serve_watchers() -> None:
        while True:
            await asyncio.sleep(0)
            crowd.now += 2 * TURN_SECONDS
            crowd.crowd.apart(2 * TURN_SECONDS)

    watchers = asyncio.create_task(serve_watchers())
    await crowd.run(200)
    watchers.cancel()
    assert 200 / len(crowd.begun) * COST >= TURN_SECONDS / 2
