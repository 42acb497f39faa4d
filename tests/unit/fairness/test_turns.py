"""The time of the loop."""

from __future__ import annotations

import asyncio

import pytest

from hydrofoil.clock import Clock
from hydrofoil.fairness import turns
from hydrofoil.fairness.flow import ONE, Counts, Flow
from hydrofoil.fairness.queues import Queues
from hydrofoil.fairness.turns import MOST, Turns


async def test_a_turn_is_used_up_and_the_next_one_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(turns, "stopwatch", lambda: now)
    found = Turns(list)
    assert not found.busy()
    now = 1.0
    assert found.busy()
    await asyncio.sleep(0)
    assert not found.busy()


async def test_waiting_requests_are_served_turn_by_turn() -> None:
    queues = Queues(Clock())
    found = Turns(lambda: [queues])
    queues.admits = found.admits
    queues.configure(1000, 1, 1000)
    flow = Flow(Counts("s", "l"), "", (0,), b"")
    tickets = [queues.start(flow, ONE, busy=True) for _ in range(3 * MOST)]
    before = queues.seats.executing
    assert 0 < before <= MOST
    for ticket in tickets:
        assert ticket is not None and ticket.granted is not None
        await asyncio.wait_for(ticket.granted, 5)
        ticket.end()
    assert queues.idle


async def test_levels_get_turns_by_their_seats() -> None:
    large, small = Queues(Clock()), Queues(Clock())
    found = Turns(lambda: [large, small])
    flow = Flow(Counts("s", "l"), "", (0,), b"")
    for queues, limit in ((large, 90), (small, 10)):
        queues.configure(limit, 1, 1000)
        queues.admits = found.admits
    found._left = 0
    for _ in range(50):
        large.start(flow, ONE, busy=True)
        small.start(flow, ONE, busy=True)
    assert large.seats.executing == small.seats.executing == 0
    found._cost = turns.TURN / 20
    found._end()
    assert large.seats.executing == 18 and small.seats.executing == 2
