"""The count of those who have work, and the future of its zero."""

from __future__ import annotations

import asyncio
import doctest

from hydrofoil.watch import activity
from hydrofoil.watch.activity import Activity


def test_the_example_runs() -> None:
    assert doctest.testmod(activity).attempted


async def test_nobody_waits_for_an_idle_one() -> None:
    async with asyncio.timeout(30):
        await Activity().wait()


async def test_all_who_wait_continue_when_the_last_work_ends() -> None:
    found = Activity()
    found.begin()
    found.begin()
    waiting = [asyncio.ensure_future(found.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    found.end()
    await asyncio.sleep(0)
    assert not any(one.done() for one in waiting)
    found.end()
    async with asyncio.timeout(30):
        await asyncio.gather(*waiting)


async def test_one_who_gives_up_takes_no_one_with_it() -> None:
    found = Activity()
    found.begin()
    one, other = asyncio.ensure_future(found.wait()), asyncio.ensure_future(found.wait())
    await asyncio.sleep(0)
    one.cancel()
    await asyncio.sleep(0)
    found.end()
    async with asyncio.timeout(30):
        await other


def test_work_that_failed_is_repeated_when_all_else_is_done_and_has_changed_something() -> None:
    found, state, repeated = Activity(), [1], list[str]()
    found.progress = lambda: state[0]
    found.begin()
    found.park("a", lambda: repeated.append("a"))
    found.park("b", lambda: repeated.append("b"))
    found.leave("b")
    found.end()
    assert repeated == [], "nothing has changed: it would fail as before"
    state[0] = 2
    found.begin()
    assert repeated == []
    found.end()
    assert repeated == ["a"]
    found.repeat()
    assert repeated == ["a"], "once for each time that it was parked"


async def test_who_yields_continues_when_only_such_are_busy() -> None:
    found = Activity()
    for _ in range(3):
        found.begin()
    first = asyncio.ensure_future(found.yield_to_others(10))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(found.yield_to_others(10))
    await asyncio.sleep(0)
    assert not first.done() and not second.done()
    found.end()
    async with asyncio.timeout(30):
        await asyncio.gather(first, second)
    assert not found.is_idle


async def test_who_yields_waits_for_some_keys_at_most() -> None:
    found = Activity()
    found.begin()
    found.begin()
    waiting = asyncio.ensure_future(found.yield_to_others(2))
    await asyncio.sleep(0)
    found.count_key()
    await asyncio.sleep(0)
    assert not waiting.done()
    found.count_key()
    async with asyncio.timeout(30):
        await waiting


async def test_who_is_alone_need_not_yield() -> None:
    found = Activity()
    found.begin()
    async with asyncio.timeout(30):
        await found.yield_to_others(10)
