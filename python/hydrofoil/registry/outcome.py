"""The end of an allocation: with the outcome of the write that it was made for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from hydrofoil.engine import Stored
from hydrofoil.storage.errors import Unknown

Finish = Callable[[bool], Awaitable[None]]
"""Called once, with whether the write succeeded; never if that is unknown."""
Made = tuple[Stored, bool]
"""The result of a write, and whether it was stored: a dry run is not."""


async def outcome(work: Coroutine[Any, Any, Made], finish: Finish, under_way: set[asyncio.Task[Made]]) -> Stored:
    """Return the result of a write; call `finish` with whether it was stored, even if the caller is cancelled.

    If that is unknown, nothing is released: an object may hold it.

    Until then the write is in `under_way`.
    """
    task = asyncio.create_task(_through(work, finish))
    under_way.add(task)
    task.add_done_callback(under_way.discard)
    task.add_done_callback(_end_quietly)
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


def _end_quietly(task: asyncio.Task[Made]) -> None:
    if not task.cancelled():
        # A caller that still waits gets the error; a fault of `finish` is reported nowhere else.
        task.exception()
