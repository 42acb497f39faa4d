"""The share that a class of work has in each turn, and the queue for it, first come, first served."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from hydrofoil.clock import stopwatch
from hydrofoil.errors import FAULTS

LOG = logging.getLogger("hydrofoil")
Call = Callable[[], None]


class Ending(Protocol):
    """A turn that can be asked to end."""

    def arm(self, share: Share) -> None:
        """Renew a share at the end of this turn."""

    def set_aside(self, seconds: float) -> None:
        """Count seconds that were not of requests."""


class Share:
    """A share whose users measure themselves: `left` bounds the next piece of work, `spend` counts it."""

    __slots__ = ("_armed", "_spent", "_turn", "seconds")

    def __init__(self, turn: Ending, seconds: float) -> None:
        self._turn = turn
        self._armed = False
        """Whether it is renewed at the end of this turn."""
        self.seconds = seconds
        """The share of each turn."""
        self._spent = 0.0

    @property
    def left(self) -> float:
        """Return the seconds that are left of this turn, at least 0."""
        return max(self.seconds - self._spent, 0.0)

    def spend(self, seconds: float) -> None:
        """Count the time of a piece of work."""
        # The first piece asks for the end of the turn. A turn without any costs nothing.
        self._arm()
        self._spent += seconds

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            self._turn.arm(self)

    def renew(self) -> None:
        """Begin a turn."""
        self._armed = False
        self._spent = 0.0

    @property
    def is_idle(self) -> bool:
        """Report whether nobody has asked for this share in the present turn."""
        return not self._armed

    def lend(self) -> float:
        """Return the seconds of this turn, which are another share's then: who comes meanwhile has the next turn."""
        self._arm()
        self._spent = self.seconds
        return self.seconds


class CallQueue(Share):
    """A share of calls: in each turn, as many run as there is time for. Their time is not that of requests."""

    __slots__ = ("_waiting",)

    def __init__(self, turn: Ending, seconds: float) -> None:
        super().__init__(turn, seconds)
        self._waiting: deque[Call] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def has_time(self) -> bool:
        """Report whether a call may run now: nothing waits before it, and the share is not used up."""
        return not self._waiting and self._spent < self.seconds

    def run(self, call: Call) -> None:
        """Run a call, and count its time."""
        self._arm()
        self._measure(call)

    def _measure(self, call: Call) -> None:
        begun = stopwatch()
        try:
            call()
        finally:
            seconds = stopwatch() - begun
            self._spent += seconds
            self._turn.set_aside(seconds)

    def defer(self, call: Call) -> None:
        """Run a call in a later turn, behind all that wait."""
        if self.seconds == math.inf:
            # A turn ends sooner where a request has asked for its end: what follows from the same requests in the same
            # order has its place in the order of the loop alone.
            asyncio.get_running_loop().call_soon(self._begin, call)
            return
        self._waiting.append(call)
        self._arm()

    def _begin(self, call: Call) -> None:
        """Run a call; one that fails affects no other."""
        try:
            self._measure(call)
        except FAULTS:
            LOG.exception("deferred work failed")

    def renew(self) -> None:
        """Begin a turn with the calls that wait. A call that fails affects no other.

        Time that they spend does not ask for the end of this turn, which would cost each write one more: if it has
        not been forgotten by the next call, that call may have to wait for a turn without need, and no more.
        """
        super().renew()
        waiting = self._waiting
        while waiting and self._spent < self.seconds:
            self._begin(waiting.popleft())
        if waiting:
            self._arm()


class ResumeQueue(Share):
    """A share of tasks: one of them continues in each turn, and bounds its next piece of work by `seconds`."""

    __slots__ = ("_lenders", "_taken", "_waiting", "granted")

    def __init__(self, turn: Ending, seconds: float, lenders: Sequence[Share] = ()) -> None:
        """`lenders` give their seconds to the task that continues, if no one asks for any of them."""
        super().__init__(turn, seconds)
        self._lenders = lenders
        self._taken = False
        """Whether one has continued in this turn."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.granted = seconds
        """The seconds for the task that has continued last."""

    async def resume(self) -> None:
        """Continue at once if no other task of the class did in this turn, else in a later one."""
        if self._taken:
            await self.wait()
        else:
            self._taken = True
            self._arm()

    async def wait(self) -> None:
        """Continue in a later turn, behind all that wait."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._arm()
        await place

    def renew(self) -> None:
        """Begin a turn: let the first task that has not left continue."""
        super().renew()
        self._taken = False
        while self._waiting and not self._taken:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                self._taken = True
                self._arm()
                self.granted = self.seconds
                if all(share.is_idle for share in self._lenders):
                    self.granted += sum(share.lend() for share in self._lenders)

    def lend(self) -> float:
        self._taken = True
        return super().lend()
