"""What an allocation is told of the write that it was made for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from hydrofoil.engine import Stored
from hydrofoil.storage.errors import Unknown

Finish = Callable[[bool], Awaitable[None]]
"""Called once, with whether the write was done; never when nobody can tell."""
Made = tuple[Stored, bool]
"""What a write makes, and whether it was done: a dry run is not."""


async def outcome(work: Coroutine[Any, Any, Made], finish: Finish, under_way: set[asyncio.Task[Made]]) -> Stored:
    """What a write makes; `finish` is told whether it was done, also when the caller is cancelled meanwhile.

    Of what nobody can tell whether it was done nothing is given back: an object may hold it.

    Until then it is among those that are under way.
    """
    task = asyncio.create_task(_through(work, finish))
    under_way.add(task)
    task.add_done_callback(under_way.discard)
    task.add_done_callback(_ended)
    return (await asyncio.shield(task))[0]


async def _through(work: Coroutine[Any, Any, Made], finish: Finish) -> Made:
    try:
        made = await work
    except Unknown:
        raise
    except BaseException:
        await finish(False)
        raise
    await finish(made[1])
    return made


def _ended(task: asyncio.Task[Made]) -> None:
    if not task.cancelled():
        # Whoever still waits for it is told; a fault of it is told by nobody else.
        task.exception()
