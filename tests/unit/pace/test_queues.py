"""The shares of a turn, and the order of the calls and tasks that wait for them."""

from __future__ import annotations

import asyncio

import pytest

from hydrofoil.pace import queues, reads
from hydrofoil.pace.queues import CallQueue, ResumeQueue
from hydrofoil.pace.reads import STEP, ReadQueue
from hydrofoil.pace.turn import Turn, current_turn


class Work:
    """The time of the loop; it passes only while there is work."""

    now = 100.0

    def spin(self, seconds: float) -> None:
        """Use the loop."""
        self.now += seconds


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    work = Work()
    for module in (queues, reads):
        monkeypatch.setattr(module, "stopwatch", lambda: work.now)
    return work


@pytest.fixture
async def turn() -> Turn:
    return Turn(asyncio.get_running_loop())


async def numbers_of_turns(queue: ResumeQueue, count: int) -> list[int]:
    """Return the turns of the loop in which tasks continued that came in the same turn."""
    number = 0
    left = count

    def mark() -> None:
        nonlocal number
        number += 1
        if left:
            asyncio.get_running_loop().call_soon(mark)

    async def resume() -> int:
        nonlocal left
        await queue.resume()
        left -= 1
        return number

    mark()
    return await asyncio.gather(*(resume() for _ in range(count)))


async def test_tasks_that_come_together_have_a_turn_each(turn: Turn) -> None:
    numbers = await numbers_of_turns(turn.results, 5)
    assert numbers == sorted(set(numbers))


async def test_a_task_that_leaves_holds_up_no_other(turn: Turn) -> None:
    await turn.results.resume()
    first, second = (asyncio.ensure_future(turn.results.resume()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    async with asyncio.timeout(5):
        await second


async def test_a_call_has_time_until_the_share_is_used_up(turn: Turn, work: Work) -> None:
    queue: CallQueue = turn.handshakes
    assert queue.has_time
    queue.run(lambda: work.spin(queue.seconds))
    assert not queue.has_time and queue.left == 0
    await asyncio.sleep(0)
    assert queue.has_time and queue.left == queue.seconds


async def test_calls_that_wait_run_in_order_for_a_share_of_each_turn(turn: Turn, work: Work) -> None:
    queue, order = turn.handshakes, list[int]()

    def call(number: int) -> None:
        order.append(number)
        work.spin(queue.seconds * 0.6)

    for number in range(6):
        queue.defer(lambda number=number: call(number))  # type: ignore[misc]
    counts = []
    while len(queue):
        await asyncio.sleep(0)
        counts.append(len(order))
    assert order == list(range(6))
    assert counts == [2, 4, 6]


async def test_a_call_that_fails_affects_no_other(turn: Turn, caplog: pytest.LogCaptureFixture) -> None:
    order: list[str] = []
    turn.watchers.defer(lambda: order.append("before"))
    turn.watchers.defer(lambda: order.remove("absent"))
    turn.watchers.defer(lambda: order.append("after"))
    await asyncio.sleep(0)
    assert order == ["before", "after"]
    assert "deferred work failed" in caplog.text


async def test_classes_do_not_take_from_each_other(turn: Turn, work: Work) -> None:
    turn.handshakes.run(lambda: work.spin(2 * turn.handshakes.seconds))
    assert turn.watchers.has_time and turn.expressions.left == turn.expressions.seconds


def reads_of_turn(work: Work, queue: ReadQueue, count: int, seconds: float) -> int:
    """Read from connections in one turn; return how many reads were parsed in it."""
    parsed = 0
    for _ in range(count):
        queue.unasked -= 1
        if queue.unasked < 0 and not queue.take():
            queue.defer(lambda: work.spin(seconds))
        else:
            parsed += 1
            work.spin(seconds)
    return parsed


async def test_few_reads_are_never_measured(turn: Turn, work: Work) -> None:
    assert reads_of_turn(work, turn.reads, STEP - 1, 0.0) == STEP - 1
    assert not turn._used


async def test_reads_of_many_turns_do_not_add_up(turn: Turn, work: Work) -> None:
    for _ in range(10 * STEP):
        assert reads_of_turn(work, turn.reads, 1, turn.reads.seconds / 2) == 1
        await asyncio.sleep(0)


async def test_reads_that_come_together_are_spread_over_turns(turn: Turn, work: Work) -> None:
    queue, seconds = turn.reads, turn.reads.seconds / 8
    parsed = reads_of_turn(work, queue, 200, seconds)
    # Those before the first look, and those up to the look behind the end of the share.
    assert STEP <= parsed <= 3 * STEP
    turns = 0
    while len(queue):
        left = len(queue)
        assert not queue.take()
        await asyncio.sleep(0)
        assert left - len(queue) <= 9
        turns += 1
    assert turns >= (200 - parsed) / 9
    assert reads_of_turn(work, queue, 1, 0.0) == 1


async def test_servers_of_one_loop_share_its_turn() -> None:
    assert current_turn() is current_turn()


async def test_a_task_in_pieces_has_what_others_leave_of_the_turn(turn: Turn) -> None:
    queue = turn.bookkeeping
    await queue.resume()
    await queue.wait()
    lent = turn.handshakes.seconds + turn.answers.seconds + turn.results.seconds
    assert queue.granted == queue.seconds + lent
    assert not turn.handshakes.has_time and turn.answers.left == turn.results.left == 0


async def test_who_comes_after_its_share_was_lent_has_the_next_turn(turn: Turn) -> None:
    queue = turn.bookkeeping
    await queue.resume()
    await queue.wait()
    answer = turn.answers.resume()
    place = answer.send(None)
    assert isinstance(place, asyncio.Future) and not place.done()
    await queue.wait()
    assert place.done() and queue.granted == queue.seconds
    answer.close()


async def test_an_unbound_turn_keeps_the_order_of_the_loop(turn: Turn) -> None:
    """With a seed, the order of what follows must not depend on a request that asks for the end of a turn."""
    turn.unbound()
    orders = []
    for is_asked in (False, True):
        order: list[str] = []
        if is_asked:
            turn.answers.spend(0.0)
        asyncio.get_running_loop().call_soon(order.append, "first")
        turn.watchers.defer(lambda order=order: order.append("second"))  # type: ignore[misc]
        asyncio.get_running_loop().call_soon(order.append, "third")
        for _ in range(3):
            await asyncio.sleep(0)
        orders.append(order)
    assert orders == [["first", "second", "third"]] * 2
