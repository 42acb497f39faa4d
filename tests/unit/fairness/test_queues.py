"""Seats and queues of a level."""

from __future__ import annotations

import asyncio

import pytest

from hydrofoil.clock import Clock
from hydrofoil.fairness import queues as module
from hydrofoil.fairness.flow import ONE, Counts, Flow, Work
from hydrofoil.fairness.queues import Queues, Ticket


def flow(*cards: int) -> Flow:
    return Flow(Counts("s", "l"), "", cards or (0,), b"")


def queues(limit: int, count: int = 0, length: int = 0, *, exempt: bool = False) -> Queues:
    made = Queues(Clock(), exempt=exempt)
    made.configure(limit, count, length)
    return made


def started(q: Queues, f: Flow, work: Work = ONE, *, busy: bool = False) -> Ticket:
    ticket = q.start(f, work, busy=busy)
    assert ticket is not None
    return ticket


def test_an_exempt_level_has_no_limit() -> None:
    q, f = queues(0, exempt=True), flow()
    tickets = [started(q, f) for _ in range(100)]
    assert q.seats.executing == f.counts.executing == 100 and q.seats.most == 100
    for ticket in tickets:
        ticket.end()
        ticket.end()
    assert q.idle and f.counts.executing == 0 and f.counts.dispatched == 100


def test_a_level_without_queues_refuses() -> None:
    q, f = queues(2), flow()
    first, _ = started(q, f), started(q, f)
    assert q.start(f, ONE) is None and f.counts.rejected == {"concurrency-limit": 1}
    first.end()
    assert q.start(f, ONE) is not None


def test_a_request_wider_than_the_level_runs_alone() -> None:
    q, f = queues(2), flow()
    wide = started(q, f, Work(5))
    assert q.start(f, ONE) is None
    wide.end()
    started(q, f)
    assert q.start(f, Work(5)) is None


async def test_requests_wait_for_seats_and_full_queues_refuse() -> None:
    q, f = queues(1, 1, 2), flow()
    running = started(q, f)
    waiting = [started(q, f), started(q, f)]
    assert q.start(f, ONE) is None and f.counts.rejected == {"queue-full": 1}
    assert [t.executing for t in waiting] == [False, False] and q.waiting == 2 and q.seats.wanted == 2
    running.end()
    assert [t.executing for t in waiting] == [True, False]
    assert waiting[0].granted is not None and waiting[0].granted.done()
    waiting[0].end()
    waiting[1].end()
    assert q.idle and q.seats.wanted == 0 and q.seats.used == 0 and not q.backlog


async def test_a_flow_with_little_work_overtakes_one_with_much() -> None:
    q, greedy, modest = queues(1, 2, 50), flow(0), flow(1)
    running = started(q, greedy)
    crowd = [started(q, greedy) for _ in range(20)]
    one = started(q, modest)
    order: list[Ticket] = []
    while not q.idle:
        order.append(running)
        running.end()
        running = next((t for t in q.running), running)
    assert order.index(one) <= 2 and len(order) == 22 and order[-1] is crowd[-1]


async def test_queues_share_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "stopwatch", lambda: 1.0)
    q, one, other = queues(1, 2, 50), flow(0), flow(1)
    running = started(q, one)
    for _ in range(10):
        started(q, one)
        started(q, other)
    served = []
    while not q.idle:
        served.append(running.flow is one)
        running.end()
        running = next(iter(q.running), running)
    assert 4 <= sum(served[:10]) <= 6


async def test_a_busy_loop_makes_requests_wait_where_seats_are_free() -> None:
    q, f = queues(10, 1, 3), flow()
    q.admits = lambda: False
    for _ in range(3):
        assert not started(q, f, busy=True).executing
    assert q.start(f, ONE, busy=True) is None
    q.admits = lambda: True
    q.dispatch()
    assert q.seats.executing == 3


async def test_a_request_can_stop_waiting() -> None:
    q, f = queues(1, 1, 5), flow()
    running, late = started(q, f), started(q, f)
    q.expire(late)
    assert q.waiting == 0 and f.counts.rejected == {"time-out": 1} and q.late == 1
    assert late.granted is not None and late.granted.done() and not late.executing
    q.expire(running)
    assert running.executing
    running.end()
    assert q.idle


async def test_watchers_keep_seats_for_a_while() -> None:
    q, f = queues(5, 1, 5), flow()
    ticket = started(q, f, Work(1, 5, 0.01))
    ticket.end()
    assert q.seats.executing == 0 and q.seats.used == 5
    waiting = started(q, f)
    assert waiting.granted is not None
    await asyncio.wait_for(waiting.granted, 5)
    assert waiting.executing and q.seats.used == 1


async def test_fewer_queues_remain_until_they_are_empty() -> None:
    q, f = queues(1, 3, 5), flow(2)
    ticket = started(q, f)
    q.configure(1, 1, 5)
    assert len(q.queues) == 3
    ticket.end()
    q.configure(1, 1, 5)
    assert len(q.queues) == 1


async def test_the_least_filled_queue_of_a_hand_is_chosen() -> None:
    q, f = queues(1, 3, 5), flow(0, 1, 2)
    started(q, f)
    for _ in range(6):
        started(q, f)
    assert [len(queue.waiting) for queue in q.queues] == [2, 2, 2]
