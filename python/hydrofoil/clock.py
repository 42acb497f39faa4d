"""Time and randomness: one source of each a server; no other code reads the machine's time or draws at random.

Sockets and the deadlines of requests use the loop's time instead, and `stopwatch` measures work.
"""

from __future__ import annotations

import asyncio
import base64
import os
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from hydrofoil import engine

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""The letters of generated names (apimachinery `util/rand`)."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
stopwatch = time.perf_counter
"""Seconds from an arbitrary point: the duration of work on this machine."""
TURN_SECONDS = 0.002
"""The time that work in pieces keeps the loop before other tasks have a turn."""


class Clock:
    """The time of one server."""

    def __init__(self) -> None:
        self.native = engine.Clock()
        """The same clock for native code, usable from any thread."""

    def nanoseconds(self) -> int:
        """Return nanoseconds since 1970."""
        return self.native.nanoseconds()

    def now(self) -> datetime:
        """Return the present time."""
        return EPOCH + timedelta(microseconds=self.nanoseconds() // 1000)

    def seconds(self) -> float:
        """Return seconds since 1970."""
        return self.nanoseconds() / 1e9

    def text(self) -> str:
        """Return the present second in RFC 3339, as objects have it."""
        return self.native.text()

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Schedule a call after a time."""
        return asyncio.get_running_loop().call_later(seconds, call)

    async def sleep(self, seconds: float) -> None:
        """Wait for a time."""
        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for an event; return False if a time has passed before it."""
        try:
            async with asyncio.timeout(seconds):
                return await event.wait()
        except TimeoutError:
            return False


class Chance:
    """The randomness of one server; it repeats with a seed."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(os.urandom(32) if seed is None else seed)

    def uid(self) -> str:
        """Return a random UUID (RFC 9562, version 4)."""
        drawn = self._random.getrandbits(128) & ~(0xF000 << 64) | (0x4000 << 64)
        text = f"{drawn & ~(0xC000 << 48) | (0x8000 << 48):032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def letters(self, count: int) -> str:
        """Return letters for a generated name."""
        return "".join(self._random.choices(LETTERS, k=count))

    def token(self, count: int) -> str:
        """Return this many random bytes as URL-safe text."""
        return base64.urlsafe_b64encode(self._random.randbytes(count)).rstrip(b"=").decode()

    def below(self, count: int) -> int:
        """Return a number from 0 to below `count`."""
        return self._random.randrange(count)

    def between(self, least: float, most: float) -> float:
        """Return a number from a range."""
        return self._random.uniform(least, most)


class Pace:
    """Give other tasks a turn of the loop whenever work in pieces has kept it long enough."""

    __slots__ = ("_due",)

    def __init__(self) -> None:
        self._due = stopwatch() + TURN_SECONDS

    def due(self) -> bool:
        """Report whether other tasks should have a turn."""
        return stopwatch() > self._due

    async def rest(self) -> None:
        """Pause if a turn is due; call it between two pieces."""
        if stopwatch() > self._due:
            await asyncio.sleep(0)
            self._due = stopwatch() + TURN_SECONDS
