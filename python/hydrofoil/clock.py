"""Time and chance: one of each a server, and nothing else reads the time of the machine or draws at random.

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
"""What made-up names consist of (apimachinery `util/rand`)."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
stopwatch = time.perf_counter
"""Seconds from any point on: how long work takes on this machine."""
TURN_SECONDS = 0.002
"""How long work in pieces keeps the loop before others have a turn."""


class Clock:
    """The time of one server."""

    def __init__(self) -> None:
        self.native = engine.Clock()
        """The same clock for native code; any thread may ask it."""

    def nanoseconds(self) -> int:
        """Nanoseconds since 1970."""
        return self.native.nanoseconds()

    def now(self) -> datetime:
        """The present moment."""
        return EPOCH + timedelta(microseconds=self.nanoseconds() // 1000)

    def seconds(self) -> float:
        """Seconds since 1970."""
        return self.nanoseconds() / 1e9

    def text(self) -> str:
        """The present second as objects have it: RFC 3339."""
        return self.native.text()

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Have something called when a time has passed."""
        return asyncio.get_running_loop().call_later(seconds, call)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for an event; False when a time has passed before it came."""
        try:
            async with asyncio.timeout(seconds):
                return await event.wait()
        except TimeoutError:
            return False


class Chance:
    """What one server draws at random; it repeats with a seed."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(os.urandom(32) if seed is None else seed)

    def uid(self) -> str:
        """A random UUID (RFC 9562, version 4)."""
        drawn = self._random.getrandbits(128) & ~(0xF000 << 64) | (0x4000 << 64)
        text = f"{drawn & ~(0xC000 << 48) | (0x8000 << 48):032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def letters(self, count: int) -> str:
        """Letters for a made-up name."""
        return "".join(self._random.choices(LETTERS, k=count))

    def token(self, count: int) -> str:
        """So many bytes as text that fits into a URL."""
        return base64.urlsafe_b64encode(self._random.randbytes(count)).rstrip(b"=").decode()

    def below(self, count: int) -> int:
        """A number from 0 on."""
        return self._random.randrange(count)

    def between(self, least: float, most: float) -> float:
        """A number out of a range."""
        return self._random.uniform(least, most)


class Pace:
    """Gives the others a turn of the loop whenever work in pieces has kept it for long enough."""

    __slots__ = ("_due",)

    def __init__(self) -> None:
        self._due = stopwatch() + TURN_SECONDS

    def due(self) -> bool:
        """Whether others should have a turn."""
        return stopwatch() > self._due

    async def rest(self) -> None:
        """Make a pause if one is due; to be called between two pieces."""
        if stopwatch() > self._due:
            await asyncio.sleep(0)
            self._due = stopwatch() + TURN_SECONDS
