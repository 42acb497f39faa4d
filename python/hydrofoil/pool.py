"""Work that must not block the loop: large pieces leave it, many small ones pause."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

from hydrofoil.clock import Clock
from hydrofoil.errors import FAULTS

LOG = logging.getLogger("hydrofoil")
Given = TypeVarTuple("Given")
Made = TypeVar("Made")

LARGE = 64 << 10
"""The bytes of a patch and its object together above which work leaves the loop: about 3 ms of it."""

POOLED_TRIES = 4
"""The number of attempts off the loop. Meanwhile others may write the object repeatedly; on the loop none can."""

RETRY_SECONDS = 0.5
"""The delay before failed work is repeated."""


class Returns:
    """Let those that were woken together continue one in each turn of the loop: large work follows."""

    def __init__(self) -> None:
        self._marked = False
        """Whether one has continued in this turn."""
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def turn(self) -> None:
        """Wait for a turn in which no other continues."""
        if not self._marked:
            self._mark()
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        await place

    def _mark(self) -> None:
        self._marked = True
        asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        self._marked = False
        while self._waiting and not self._marked:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                self._mark()


RETURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, Returns] = WeakKeyDictionary()


async def run(work: Callable[[*Given], Made], *given: *Given, pooled: bool) -> Made:
    """Return the result of native work, which runs without Python's lock if it is off the loop."""
    if not pooled:
        return work(*given)
    made = await asyncio.get_running_loop().run_in_executor(None, work, *given)
    await own_turn()
    return made


async def own_turn() -> None:
    """Let those that wait for the same event, and do large work after it, continue one in each turn of the loop."""
    loop = asyncio.get_running_loop()
    if (returns := RETURNS.get(loop)) is None:
        returns = RETURNS[loop] = Returns()
    await returns.turn()


async def imported(*modules: str) -> None:
    """Import modules beside the loop: some take longer than a turn may."""
    absent = [name for name in modules if name not in sys.modules]
    if absent:
        await asyncio.to_thread(lambda: [import_module(name) for name in absent])


async def lasting(work: Callable[[], Awaitable[None]], what: str, clock: Clock) -> None:
    """Run work to its end, and restart it after a delay whenever a fault ends it."""
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
