"""Time and randomness: one source of each a server; no other code reads the machine's time or draws at random.

Sockets and the deadlines of requests use the loop's time instead, and `stopwatch` measures work.
"""

from __future__ import annotations

import asyncio
import base64
import heapq
import os
import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import NamedTuple

from hydrofoil import engine

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""The letters of generated names (apimachinery `util/rand`)."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ROUNDING = 1e-7
"""By how many seconds two times may differ that are meant to be the same: floats are sums of rounded parts."""
stopwatch = time.perf_counter
"""Seconds from an arbitrary point: the duration of work on this machine."""


def machine_seconds() -> int:
    """Return seconds since 1970 by the machine: clients validate TLS handshakes with their own clock."""
    return int(time.time())


class Timer:
    """A scheduled call."""

    __slots__ = ("_clock", "_loop", "call", "due", "handle")

    def __init__(self, clock: Clock, due: float, call: Callable[[], None]) -> None:
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self.due = due
        """The time since the start of the clock, in seconds."""
        self.call = call
        self.handle: asyncio.TimerHandle | None = None

    def cancel(self) -> None:
        """Forget the call."""
        self.disarm()
        self._clock.timers.pop(self, None)

    def arm(self, now: float) -> None:
        """Wait for the call by the time of the loop."""
        self.disarm()
        self.handle = self._loop.call_later(max(self.due - now, 0.0), self._fire)

    def disarm(self) -> None:
        """Stop waiting; the call stays scheduled."""
        if self.handle is not None:
            self.handle.cancel()
            self.handle = None

    def _fire(self) -> None:
        self._clock.timers.pop(self, None)
        self.call()


class Reading(NamedTuple):
    """A state of a clock."""

    frozen: bool
    at: int
    """The nanoseconds since 1970 of a clock that stands still; of one that runs, those before the machine's time."""
    moved: bool
    """Whether it was ever frozen or advanced."""


class MachineTime:
    """Waits by the time of the machine, which passes even where a test has stopped the server's clock.

    What failed is repeated by it, and what another process does is waited for: neither stands still with the clock.
    """

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Schedule a call."""
        return asyncio.get_running_loop().call_later(seconds, call)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for an event; return False if a time has passed before it."""
        try:
            async with asyncio.timeout(seconds):
                return await event.wait()
        except TimeoutError:
            return False


class Clock:
    """The time of one server: the machine's, unless it was frozen or advanced."""

    def __init__(self, machine: MachineTime | None = None) -> None:
        self.machine = machine or MachineTime()
        """The time of the machine, for waits that do not stop with this clock."""
        self._moved = False
        self.native = engine.Clock()
        """The same clock for native code, usable from any thread."""
        self.timers: dict[Timer, None] = {}
        """The calls that are scheduled, in the order of their scheduling."""
        self._due: list[tuple[float, int, Timer]] | None = None
        """The same by time, while the clock is being advanced."""
        self._numbers = count()

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

    def later(self, seconds: float, call: Callable[[], None], *, repeats: bool = False) -> Timer:
        """Schedule a call after a time of this clock.

        One that `repeats` is made once when the clock is advanced, however far.
        """
        native = self.native
        now = native.elapsed()
        timer = Timer(self, now + seconds, call)
        self.timers[timer] = None
        if self._due is not None and not repeats:
            heapq.heappush(self._due, (timer.due, next(self._numbers), timer))
        elif self._due is None and not native.frozen:
            timer.arm(now)
        return timer

    def freeze(self, at: datetime | None = None) -> None:
        """Stop, at a moment or now; a later moment is reached as by `advance`."""
        for _ in self.freeze_by_moments(at):
            pass

    def freeze_by_moments(self, at: datetime | None = None) -> Iterator[None]:
        """Stop as `freeze` does, and yield as `moments` does on the way to a later moment."""
        moment = None if at is None else (at - EPOCH) // timedelta(microseconds=1) * 1000
        self._moved = True
        self.native.freeze()
        for timer in self.timers:
            timer.disarm()
        ahead = 0 if moment is None else moment - self.nanoseconds()
        if ahead > 0:
            yield from self.moments(ahead)
        elif moment is not None:
            self.native.freeze(moment)

    def advance(self, nanoseconds: int) -> None:
        """Move forward, running the calls that become due in their order, each at its time.

        Those that are due at one time run in the order of their scheduling.
        """
        for _ in self.moments(nanoseconds):
            pass

    def moments(self, nanoseconds: int) -> Iterator[None]:
        """Move forward as `advance` does, and yield at each moment at which calls were made.

        What the calls lead to may take its time before the clock moves on: it schedules further calls at that moment.
        One clock is moved once at a time.
        """
        native, self._moved = self.native, True
        # A timer that is due at the end may seem to be due after it by the last bits of its time in seconds.
        target, left = native.elapsed() + nanoseconds / 1e9 + ROUNDING, nanoseconds
        self._due = [(timer.due, next(self._numbers), timer) for timer in self.timers]
        heapq.heapify(self._due)
        for timer in self.timers:
            # The loop makes no call meanwhile: those that are due are made here.
            timer.disarm()
        try:
            called = False
            while self._due and self._due[0][0] <= target:
                due, _, timer = heapq.heappop(self._due)
                # An earlier call may have cancelled it.
                if timer in self.timers:
                    step = min(max(round((due - native.elapsed()) * 1e9), 0), left)
                    native.advance(step)
                    left -= step
                    timer.cancel()
                    timer.call()
                    called = True
                if called and (not self._due or self._due[0][0] > due + ROUNDING):
                    called = False
                    yield
        finally:
            self._due = None
            native.advance(left)
            self._rearm()

    def run(self) -> None:
        """Continue from the present moment."""
        self.native.run()
        self._rearm()

    def reset(self) -> None:
        """Return to the machine's time."""
        self._moved = False
        self.native.reset()
        self._rearm()

    def state(self) -> Reading:
        """Return what `return_to` needs."""
        frozen = self.native.frozen
        return Reading(frozen, self.nanoseconds() - (0 if frozen else time.time_ns()), self._moved)

    def return_to(self, state: Reading) -> None:
        """Stand still or run as in an earlier state; one that ran has been running since."""
        if not state.moved:
            self.reset()
            return
        self.freeze(EPOCH + timedelta(microseconds=(state.at + (0 if state.frozen else time.time_ns())) // 1000))
        if not state.frozen:
            self.run()

    def _rearm(self) -> None:
        if self.native.frozen:
            return
        now = self.native.elapsed()
        for timer in self.timers:
            timer.arm(now)


class Chance:
    """The randomness of one server; it repeats with a seed."""

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed
        self._random = random.Random(os.urandom(32) if seed is None else seed)

    @property
    def seeded(self) -> bool:
        """Report whether it repeats."""
        return self._seed is not None

    def restart(self) -> None:
        """Begin anew: a seed repeats from here, with other values than those of the start, which are in use."""
        self._random.seed(os.urandom(32) if self._seed is None else f"{self._seed} again")

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

    def bits(self, count: int) -> int:
        """Return a number of this many random bits."""
        return self._random.getrandbits(count)

    def below(self, count: int) -> int:
        """Return a number from 0 to below `count`."""
        return self._random.randrange(count)

    def between(self, least: float, most: float) -> float:
        """Return a number from a range."""
        return self._random.uniform(least, most)
