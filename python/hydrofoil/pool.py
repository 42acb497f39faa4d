"""Work that must not block the loop: large pieces leave it, many small ones pause."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, TypeVar, TypeVarTuple

from hydrofoil.clock import Clock
from hydrofoil.errors import FAULTS
from hydrofoil.pace.turn import current_turn

LOG = logging.getLogger("hydrofoil")
Given = TypeVarTuple("Given")
Made = TypeVar("Made")

POOLED_TRIES = 4
"""The number of attempts off the loop. Meanwhile others may write the object repeatedly; on the loop none can."""

RETRY_SECONDS = 0.5
"""The delay before failed work is repeated."""


async def run(work: Callable[[*Given], Made], *given: *Given, pooled: bool) -> Made:
    """Return the result of native work, which runs without Python's lock if it is off the loop."""
    if not pooled:
        return work(*given)
    made = await asyncio.get_running_loop().run_in_executor(None, work, *given)
    # Those that were woken together continue one by one: each has work to do with its result.
    await current_turn().results.resume()
    return made


def retrieve_result(task: asyncio.Future[Any]) -> None:
    """Retrieve the result of a call: all its waiters may be gone."""
    if not task.cancelled():
        task.exception()


async def import_modules(*modules: str) -> None:
    """Import modules beside the loop: some take longer than a turn may."""
    absent = [name for name in modules if name not in sys.modules]
    if absent:
        await asyncio.to_thread(lambda: [import_module(name) for name in absent])


async def keep_running(work: Callable[[], Awaitable[None]], what: str, clock: Clock) -> None:
    """Run work to its end, and restart it after a delay whenever a fault ends it."""
    pause = 0.0
    while True:
        try:
            if pause:
                await clock.machine.sleep(pause)
            await work()
            return
        except FAULTS:
            LOG.exception("%s failed", what)
            pause = RETRY_SECONDS
