"""The time of the loop."""

from __future__ import annotations

import asyncio
import gc
import weakref

from hydrofoil import engine
from hydrofoil.clock import Clock
from hydrofoil.fairness.dispatcher import Dispatcher

ONE = engine.Work()


class Levels:
    """The levels of a server, which hold their turns, and are held by them."""

    def __init__(self) -> None:
        self.dispatcher = Dispatcher(self.all, Clock())
        self.queues = level(self.dispatcher, 1)

    def all(self) -> list[engine.Queues]:
        return [self.queues]


def flow() -> engine.Flow:
    return engine.Flow(engine.FlowCounts(), "s", "", [0], b"")


def level(dispatcher: Dispatcher, limit: int) -> engine.Queues:
    made = engine.Queues(dispatcher.native)
    made.configure(limit, limit, 1, 1000)
    return made


async def served(tickets: list[engine.Ticket | None]) -> None:
    """Wait for each request, and end it."""
    for ticket in tickets:
        assert ticket is not None
        while not ticket.executing:
            await asyncio.sleep(0)
        ticket.end()
        ticket.end()


async def test_waiting_requests_are_served_turn_by_turn() -> None:
    dispatcher = Dispatcher(lambda: [queues], Clock())
    queues, given = level(dispatcher, 10), flow()
    tickets = [queues.start(given, ONE, None, "get") for _ in range(100)]
    assert queues.executing == 10 and queues.waiting == 90
    await asyncio.wait_for(served(tickets), 5)
    assert not queues.executing and not queues.waiting and given.counts.dispatched == 100
    assert sum(given.counts.waited[0].counts) == 100


async def test_what_a_request_waits_for_is_done_in_its_turn() -> None:
    dispatcher = Dispatcher(lambda: [queues], Clock())
    queues, given = level(dispatcher, 1), flow()
    first, second = (queues.start(given, ONE, None, "get") for _ in range(2))
    assert first is not None and second is not None and second.waits
    granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    second.hold(granted)
    first(None)
    await asyncio.wait_for(granted, 5)
    assert second.executing and second.expire() is None
    second(None)


async def test_a_request_that_stops_waiting_returns_what_it_holds() -> None:
    dispatcher = Dispatcher(lambda: [queues], Clock())
    queues, given = level(dispatcher, 1), flow()
    first, second = (queues.start(given, ONE, None, "get") for _ in range(2))
    assert first is not None and second is not None
    second.hold("x")
    assert second.expire() == "x" and second.expire() is None
    assert given.counts.rejected == {"time-out": 1} and queues.late == 1 and not queues.waiting
    first(None)
    assert not queues.executing


async def test_watchers_keep_seats_for_a_while() -> None:
    dispatcher = Dispatcher(lambda: [queues], Clock())
    queues, given = level(dispatcher, 5), flow()
    ticket = queues.start(given, engine.Work(1, 5, 0.01), None, "update")
    assert ticket is not None
    ticket(None)
    assert queues.executing == 0 and queues.seats == 5
    waiting = queues.start(given, ONE, None, "get")
    assert waiting is not None and waiting.waits
    await asyncio.wait_for(served([waiting]), 5)
    assert queues.seats == 0


async def test_more_seats_serve_those_who_wait() -> None:
    dispatcher = Dispatcher(lambda: [queues], Clock())
    queues, given = level(dispatcher, 1), flow()
    tickets = [queues.start(given, ONE, None, "get") for _ in range(3)]
    queues.configure(3, 3, 1, 1000)
    for ticket in tickets:
        assert ticket is not None
        while not ticket.executing:
            await asyncio.sleep(0)


async def test_reads_and_writes_are_counted_apart() -> None:
    dispatcher = Dispatcher(lambda: [queues], Clock())
    queues, given = level(dispatcher, 2), flow()
    tickets = [queues.start(given, ONE, None, verb) for verb in ("get", "patch", "watch", "create")]
    found = [dispatcher.native.requests(writes, waits) for waits in (False, True) for writes in (False, True)]
    assert found == [1, 1, 1, 1]
    await served(tickets)
    assert [sum(h.counts) for h in given.counts.executed] == [3, 1]


async def test_the_turns_of_a_server_that_has_ended_are_collected() -> None:
    levels = Levels()
    ticket = levels.queues.start(flow(), ONE, levels, "get")
    assert ticket is not None
    ticket(None)
    gone = weakref.ref(levels)
    del levels, ticket
    # A mark may be on its way.
    await asyncio.sleep(0)
    gc.collect()
    assert gone() is None
