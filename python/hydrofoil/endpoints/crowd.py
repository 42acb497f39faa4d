"""Requests that arrive together and that no priority level holds back, over several turns of the event loop."""

from __future__ import annotations

import asyncio
from collections import deque

from hydrofoil.clock import TURN_SECONDS, stopwatch

FIRST = 2
"""How many waiting requests begin in a turn before it is known how long they take."""


class Crowd:
    """Let requests begin in the order of their arrival, about `TURN_SECONDS` of them in each turn.

    A crowd of clients would otherwise be one long turn, in which no timer, watch or health check has its own. The clock
    is read once a request, and a mark runs through the loop every `TURN_SECONDS` at most, however busy it is.
    """

    def __init__(self) -> None:
        self._until = 0.0
        """When the present turn is full, unless a mark returns before that."""
        self._marked = False
        """Whether a mark is on its way: it returns in the next turn."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._most = FIRST
        self._begun = 0.0
        """When the requests that waited last began."""

    @property
    def full(self) -> bool:
        """Report whether a request has to wait; to be asked once for each request."""
        if self._waiting:
            return True
        now = stopwatch()
        if now < self._until:
            return False
        if self._marked:
            return True
        self._mark(now)
        return False

    async def wait(self) -> None:
        """Wait for the next turn, behind all requests that wait."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        await place

    def _mark(self, now: float) -> None:
        self._marked = True
        self._until = now + TURN_SECONDS
        asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        """Begin a turn: let as many requests begin as the last turn had time for."""
        self._marked = False
        if not self._waiting:
            self._most = FIRST
            self._begun = 0.0
            return
        now = stopwatch()
        if self._begun:
            fit = int(self._most * TURN_SECONDS / max(now - self._begun, 1e-6))
            self._most = max(1, min(2 * self._most, fit))
        self._begun = now
        left = self._most
        while left and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                left -= 1
        # Those that begin now run before the mark.
        self._mark(now)
