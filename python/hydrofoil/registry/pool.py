"""Work that must not keep the loop from other requests: large pieces leave it, many small ones make pauses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

from hydrofoil.clock import Clock
from hydrofoil.errors import FAULTS

LOG = logging.getLogger("hydrofoil")
Given = TypeVarTuple("Given")
Made = TypeVar("Made")

LARGE = 64 << 10
"""From how many bytes on, of a patch and its object together, work leaves the loop: about 3 ms of it."""

POOLED_TRIES = 4
"""How many tries leave the loop. In the meantime others may write the object again and again; on the loop none can."""

RETRY_SECONDS = 0.5
"""After what time work that failed is begun anew."""


async def run(work: Callable[[*Given], Made], *given: *Given, pooled: bool) -> Made:
    """What native work makes, which off the loop runs without Python's lock."""
    if not pooled:
        return work(*given)
    return await asyncio.get_running_loop().run_in_executor(None, work, *given)


async def lasting(work: Callable[[], Awaitable[None]], what: str, clock: Clock) -> None:
    """Do work to its end, anew after a while whenever a fault ends it before."""
    pause = 0.0
    while True:
        try:
            if pause:
                await clock.sleep(pause)
            await work()
            return
        except FAULTS:
            LOG.exception("%s failed", what)
            pause = RETRY_SECONDS
