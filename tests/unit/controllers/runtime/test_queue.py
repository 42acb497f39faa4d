"""Keys by priority, after a time, and after failures (client-go `util/workqueue/*_test.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from hydrofoil.clock import Clock, MachineTime
from hydrofoil.controllers.runtime.queue import FIRST_DELAY, HIGH, LONGEST_DELAY, LOW, WorkQueue
from hydrofoil.watch.activity import Activity
from hydrofoil.watch.queue import Key, Queue

SECOND = 10**9
MINUTE = 60 * SECOND


class Never(MachineTime):
    """The time of a machine on which nothing becomes due."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        self.asked.append(seconds)
        return super().later(3600, call)


class Soon(Never):
    """The time of a machine on which all time has passed."""

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        self.asked.append(seconds)
        return asyncio.get_running_loop().call_later(0, call)


class Case:
    """A queue that notes what it processes, over a clock that stands still."""

    def __init__(
        self, work: Callable[[Key], Awaitable[bool]] | None = None, machine: MachineTime | None = None
    ) -> None:
        self.seen: list[str] = []
        self.machine = machine or Never()
        self.clock = Clock(self.machine)
        self.clock.freeze()
        self.activity = Activity()
        self._work = work
        self.queue = WorkQueue("a test", self.work, self.clock, self.activity)

    async def work(self, key: Key) -> bool:
        self.seen.append(key[0])
        return True if self._work is None else await self._work(key)

    async def idle(self) -> list[str]:
        """Wait for the end of present work; return the keys that were processed."""
        async with asyncio.timeout(30):
            await self.activity.wait()
        return self.seen


async def test_keys_are_processed_in_their_order_each_once() -> None:
    case = Case()
    for name in "abca":
        case.queue.put((name,))
    assert await case.idle() == ["a", "b", "c"]
    await case.queue.close()


async def test_urgent_keys_are_first_and_those_of_no_haste_are_last() -> None:
    case = Case()
    for name, priority in (("slow", LOW), ("a", 0), ("b", 0), ("fast", HIGH)):
        case.queue.put((name,), priority)
    assert await case.idle() == ["fast", "a", "b", "slow"]
    await case.queue.close()


async def test_a_waiting_key_gets_the_higher_priority_and_keeps_its_place() -> None:
    """Of one priority, the first that came is the first (`priorityqueue`)."""
    case = Case()
    for name, priority in (("a", LOW), ("b", 0), ("c", 0), ("a", 0), ("c", LOW)):
        case.queue.put((name,), priority)
    assert await case.idle() == ["a", "b", "c"]
    await case.queue.close()


async def test_a_key_that_changes_while_it_is_processed_is_processed_once_more() -> None:
    """It is dirty and processing at the same time, and no second worker gets it."""
    most, running = 0, 0
    gate, begun = asyncio.Event(), asyncio.Event()

    async def work(_: Key) -> bool:
        nonlocal most, running
        running += 1
        most = max(most, running)
        begun.set()
        await gate.wait()
        running -= 1
        return True

    activity = Activity()
    queue = WorkQueue("a test", work, Clock(), activity, width=3)
    queue.put(("a",))
    await begun.wait()
    queue.put(("a",), HIGH)
    queue.put(("a",))
    assert (queue.depth, len(queue)) == (1, 2)
    await asyncio.sleep(0)
    gate.set()
    async with asyncio.timeout(30):
        await activity.wait()
    assert (most, queue.counts.added) == (1, 2)
    await queue.close()


async def test_a_key_comes_after_a_time_of_the_clock() -> None:
    case = Case(machine=Soon())
    case.queue.after(("a",), 60)
    assert case.activity.is_idle, "work of later is none of the present"
    case.clock.advance(MINUTE - SECOND)
    assert await case.idle() == []
    case.clock.advance(SECOND)
    assert await case.idle() == ["a"]
    await case.queue.close()


async def test_of_several_times_the_earliest_counts() -> None:
    """`waitingForQueue` of `delaying_queue.go`."""
    case = Case()
    for minutes in (3, 1, 2):
        case.queue.after(("a",), 60 * minutes)
    case.clock.advance(MINUTE)
    assert await case.idle() == ["a"]
    case.clock.advance(5 * MINUTE)
    assert await case.idle() == ["a"]
    case.queue.after(("b",), 0)
    assert await case.idle() == ["a", "b"]
    await case.queue.close()


async def test_a_failure_is_repeated_after_a_time_that_doubles() -> None:
    """`ItemExponentialFailureRateLimiter`, whose delay begins anew after a success."""
    answers = [*[False] * 10, True, False, True]
    machine = Soon()

    async def work(_: Key) -> bool:
        return answers.pop(0)

    case = Case(work, machine)
    case.queue.put(("a",))
    async with asyncio.timeout(30):
        while len(answers) > 2:
            await asyncio.sleep(0)
        await case.idle()
        case.queue.put(("a",))
        while answers:
            await asyncio.sleep(0)
        await case.idle()
    doubled = [min(FIRST_DELAY * 2**n, LONGEST_DELAY) for n in range(10)]
    assert machine.asked == [*doubled, FIRST_DELAY]
    assert case.queue.counts.repeated == 11
    await case.queue.close()


async def test_a_failure_is_repeated_by_a_clock_that_a_test_moves() -> None:
    answers = [False, True]

    async def work(_: Key) -> bool:
        return answers.pop(0)

    case = Case(work)
    case.queue.put(("a",))
    await case.idle()
    assert (case.queue.failures(("a",)), answers) == (1, [True])
    case.clock.advance(MINUTE)
    await case.idle()
    assert (case.queue.failures(("a",)), answers) == (0, [])
    await case.queue.close()


async def test_a_fault_is_repeated_like_a_failure() -> None:
    faults = [RuntimeError("once")]

    async def work(_: Key) -> bool:
        if faults:
            raise faults.pop()
        return True

    case = Case(work)
    case.queue.put(("a",))
    await case.idle()
    case.clock.advance(MINUTE)
    assert await case.idle() == ["a", "a"]
    await case.queue.close()


async def test_a_closed_queue_is_idle_and_takes_nothing() -> None:
    async def work(_: Key) -> bool:
        await asyncio.get_running_loop().create_future()
        return True

    case = Case(work)
    for name in "ab":
        case.queue.put((name,))
    case.queue.after(("c",), 60)
    while not case.seen:
        await asyncio.sleep(0)
    assert not case.activity.is_idle
    await case.queue.close()
    assert case.activity.is_idle
    case.queue.put(("d",))
    case.queue.after(("e",), 0)
    case.queue.retry(("f",))
    case.clock.advance(MINUTE)
    assert case.activity.is_idle and not len(case.queue)


@pytest.mark.parametrize("histogram", ["waited", "took"])
@pytest.mark.parametrize("kind", [Queue, WorkQueue])
async def test_a_fault_of_a_measurement_loses_no_key(
    kind: type[Queue], histogram: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A key that is taken out of the order, and not yet processed, is known to the worker alone."""
    seen: list[str] = []

    async def work(key: Key) -> bool:
        seen.append(key[0])
        return True

    class Broken:
        """A histogram that fails once."""

        fails = True

        def observe(self, _: float) -> None:
            fails, self.fails = self.fails, False
            if fails:
                raise MemoryError

    activity = Activity()
    queue = kind("a test", work, Clock(Soon()), activity)
    setattr(queue.counts, histogram, Broken())
    queue.put(("a",))
    queue.put(("b",))
    async with asyncio.timeout(30):
        while set(seen) != {"a", "b"} or not activity.is_idle:
            await asyncio.sleep(0)
    assert caplog.messages
    await queue.close()
