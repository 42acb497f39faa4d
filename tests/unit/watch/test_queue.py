"""A queue of keys beside its contract: width, order, and its end."""

from __future__ import annotations

import asyncio

import pytest

from hydrofoil.clock import Clock
from hydrofoil.watch.activity import Activity
from hydrofoil.watch.queue import Key, Queue


async def test_up_to_its_width_keys_are_worked_on_beside_each_other() -> None:
    running, most, go = 0, 0, asyncio.Event()

    async def work(_: Key) -> bool:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 2:
            go.set()
        await go.wait()
        running -= 1
        return True

    queue = Queue("work", work, Clock(), width=2)
    await asyncio.gather(*(queue.done((name,)) for name in "abcd"))
    assert most == 2
    await queue.close()


async def test_keys_are_worked_on_in_their_order_and_each_once() -> None:
    seen: list[str] = []

    async def work(key: Key) -> bool:
        seen.append(key[0])
        return True

    queue = Queue("work", work, Clock())
    for name in "abca":
        queue.put((name,))
    assert len(queue) == 3
    await queue.done(("c",))
    assert seen == ["a", "b", "c"]
    await queue.close()


async def test_work_waits_for_no_key_of_its_own_queue_in_whatever_way_it_asks() -> None:
    """A worker that waited for another key would wait for itself."""
    seen: list[str] = []

    async def work(key: Key) -> bool:
        seen.append(key[0])
        if len(seen) < 4:
            await asyncio.gather(*(queue.done((name,)) for name in "abc"))
        return True

    queue = Queue("work", work, Clock())
    async with asyncio.timeout(30):
        await queue.done(("a",))
        await queue.done(("c",))
    assert set(seen) == {"a", "b", "c"}
    await queue.close()


async def test_nobody_waits_for_a_closed_queue() -> None:
    async def work(_: Key) -> bool:
        return True

    queue = Queue("work", work, Clock())
    await queue.close()
    with pytest.raises(asyncio.CancelledError):
        await queue.done(("a",))


async def test_the_end_cancels_work_and_those_who_wait_for_it() -> None:
    begun = asyncio.Event()

    async def work(_: Key) -> bool:
        begun.set()
        await asyncio.Event().wait()
        return True

    queue = Queue("work", work, Clock())
    waiting = [asyncio.ensure_future(queue.done((name,))) for name in "ab"]
    await begun.wait()
    await queue.close()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(outcome, asyncio.CancelledError) for outcome in found)
    queue.put(("c",))
    assert not len(queue)


async def test_work_counts_as_activity_until_the_last_key_is_processed() -> None:
    """What settles a server waits for its queues; a key that comes back later is no work of the present moment."""
    go = asyncio.Event()

    async def work(_: Key) -> bool:
        await go.wait()
        return False

    activity = Activity()
    queue = Queue("work", work, Clock(), activity, retry=3600.0)
    assert activity.is_idle
    queue.put(("a",))
    queue.put(("b",))
    assert not activity.is_idle
    go.set()
    async with asyncio.timeout(30):
        await activity.wait()
    assert not len(queue) and activity.keys == 2
    queue.put(("c",))
    await queue.close()
    assert activity.is_idle
