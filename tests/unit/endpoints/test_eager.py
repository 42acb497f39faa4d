"""Coroutines that run at once, and become tasks only if they have to wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import pytest

from hydrofoil.endpoints.eager import EagerTask

T = TypeVar("T")
Ended = asyncio.Task[Any]


async def begin(coroutine: Coroutine[Any, Any, T]) -> tuple[EagerTask[T], T | None, asyncio.Future[Ended]]:
    """Run a coroutine outside of any task; return it, its result, and a future of the task that it became."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Ended] = loop.create_future()
    began: asyncio.Future[T | None] = loop.create_future()
    task = EagerTask(coroutine, loop)

    def run() -> None:
        try:
            began.set_result(task.run(ended.set_result))
        except Exception as e:
            began.set_exception(e)

    loop.call_soon(run)
    return task, await began, ended


async def test_one_that_does_not_wait_is_no_task() -> None:
    async def answer() -> int:
        return 7

    known = asyncio.all_tasks()
    _, result, ended = await begin(answer())
    assert (result, ended.done(), asyncio.all_tasks()) == (7, False, known)


async def test_one_that_waits_ends_in_a_task() -> None:
    gate = asyncio.get_running_loop().create_future()

    async def answer() -> int:
        first: int = await gate
        await asyncio.sleep(0)
        return first + 1

    _, result, ended = await begin(answer())
    gate.set_result(7)
    assert (result, (await ended).result()) == (None, 8)


async def test_errors_are_raised_where_they_happen() -> None:
    async def fail(first: Callable[[], Awaitable[None]]) -> None:
        await first()
        raise ValueError("no")

    async def nothing() -> None:
        """Do not wait."""

    with pytest.raises(ValueError, match="no"):
        await begin(fail(nothing))
    _, _, ended = await begin(fail(lambda: asyncio.sleep(0)))
    assert isinstance((await ended).exception(), ValueError)


@pytest.mark.parametrize("turns", [0, 1, 3])
async def test_a_cancellation_reaches_it_whether_its_task_has_run_or_not(turns: int) -> None:
    seen = []

    async def answer() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            # What an end waits for is waited for.
            await asyncio.sleep(0)
            seen.append("cancelled")
            raise

    task, _, ended = await begin(answer())
    for _ in range(turns):
        await asyncio.sleep(0)
    assert task.cancel()
    assert (await ended).cancelled()
    assert seen == ["cancelled"]


async def test_one_that_is_cancelled_may_go_on() -> None:
    async def answer() -> int:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            return 7
        return 0

    task, _, ended = await begin(answer())
    task.cancel()
    assert (await ended).result() == 7


@pytest.mark.parametrize("seconds", [0.0, 0.001])
async def test_a_limit_of_time_that_began_before_the_task_holds_in_it(seconds: float) -> None:
    async def answer() -> int:
        try:
            async with asyncio.timeout(seconds):
                await asyncio.get_running_loop().create_future()
        except TimeoutError:
            # It is no cancellation any more, for this limit or for the next.
            async with asyncio.timeout(10):
                await asyncio.sleep(0)
            return 7
        return 0

    task, _, ended = await begin(answer())
    assert (await ended).result() == 7
    assert task.cancelling() == 0


async def test_it_may_have_tasks_of_its_own() -> None:
    async def fail() -> None:
        raise ValueError("no")

    async def answer() -> int:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
                await asyncio.get_running_loop().create_future()
        except ExceptionGroup:
            return 7
        return 0

    _, _, ended = await begin(answer())
    assert (await ended).result() == 7
