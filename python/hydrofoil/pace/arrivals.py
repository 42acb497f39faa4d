"""Requests that arrive together, over several turns of the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from hydrofoil import engine
from hydrofoil.errors import FAULTS
from hydrofoil.pace import shares

LOG = logging.getLogger("hydrofoil")
FIRST = 2
"""How many waiting requests begin in a turn before it is known how long they take."""


class ArrivalPacer:
    """Let requests begin in the order of their arrival, as many in each turn as the share of arrivals has time for.

    A crowd of clients would otherwise be one long turn, in which no timer, watch or health check has its own. The
    pacer is in front of everything else that a request costs; it knows nothing of priorities. Requests that begin meet
    the priority levels, where they may wait again: a client that floods the server fills the queues of its own level
    there, since its next requests arrive when the last ones are answered.
    """

    def __init__(self, clock: engine.RequestClock, turns: engine.LoopTurns | None = None) -> None:
        """Take the turns of the priority levels, if there are any: these know when requests end."""
        self._clock = clock
        self._turns = turns or engine.LoopTurns(self, clock, shares.QUEUED, shares.ARRIVALS, gaps=False)
        self.is_full: Callable[[], bool] = self._turns.full
        """Report whether a request has to wait although none is waiting; to be asked once for each request."""
        self.waiting: deque[asyncio.Future[None]] = deque()
        """The requests that wait: others wait behind them."""
        self._resuming = False
        """Whether the next turn is on its way."""
        self._most = FIRST
        self._begun: float | None = None
        """When the requests that waited last began, in seconds of requests."""

    def mark(self) -> None:
        """Note the end of the present turn."""
        asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        """End the turn."""
        try:
            self._turns.end()
        except FAULTS:
            # A turn that never ends looks used up to all that arrive.
            LOG.exception("a turn of requests did not end")
            self.mark()

    async def wait(self) -> None:
        """Wait for the next turn, behind all requests that wait."""
        loop = asyncio.get_running_loop()
        place = loop.create_future()
        self.waiting.append(place)
        if not self._resuming:
            self._resuming = True
            loop.call_soon(self._resume)
        await place

    def _resume(self) -> None:
        """Begin a turn: let as many requests begin as the last turn had time for."""
        if not self.waiting:
            self._resuming = False
            self._most = FIRST
            self._begun = None
            return
        # Those that begin now run before the next turn. It is asked for first: if this one fails, others wait on.
        asyncio.get_running_loop().call_soon(self._resume)
        now = self._clock.seconds()
        if self._begun is not None:
            fit = int(self._most * shares.ARRIVALS / max(now - self._begun, 1e-6))
            self._most = max(1, min(2 * self._most, fit))
        self._begun = now
        left = self._most
        while left and self.waiting:
            place = self.waiting.popleft()
            if not place.done():
                place.set_result(None)
                left -= 1
