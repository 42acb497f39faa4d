"""The time of the loop, shared by the requests of all priority levels.

Requests that find their turn of the loop used up wait in their queue, so that of many at once those of other flows are
served first. Without that the loop would serve whatever arrived, and one client with many connections most of all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from hydrofoil.clock import stopwatch
from hydrofoil.fairness.queues import Queues

TURN = 0.0003
"""The seconds of requests in one turn of the loop."""
MOST = 32
"""The number of waiting requests that one turn serves, at most."""
GUESS = 0.0001
"""The seconds of a request before any was measured."""


class Turns:
    """The part of the present turn that is used up."""

    def __init__(self, levels: Callable[[], Sequence[Queues]]) -> None:
        """`levels` returns the queues that may have waiting requests."""
        self._levels = levels
        self._began = 0.0
        self._armed = False
        self._granted = 0
        self._held = False
        """Whether requests wait for the next turn that could run now."""
        self._left = MOST
        self._cost = GUESS
        self._first = 0

    def busy(self) -> bool:
        """Report whether a request that arrives now waits for another turn."""
        if not self._armed:
            self._arm()
            return False
        return stopwatch() - self._began > TURN

    def _arm(self) -> None:
        self._armed = True
        self._began = stopwatch()
        asyncio.get_running_loop().call_soon(self._end)

    def admits(self) -> bool:
        """Report whether another waiting request runs in the next turn, and count it."""
        if not self._armed:
            self._arm()
        if self._left <= 0:
            self._held = True
            return False
        self._left -= 1
        self._granted += 1
        return True

    def _end(self) -> None:
        """Run waiting requests of all levels, in proportion to their seats."""
        self._armed = False
        if not self._granted and not self._held:
            # The usual turn: nothing has waited.
            return
        self._held = False
        if self._granted:
            took = (stopwatch() - self._began) / self._granted
            self._cost += (took - self._cost) / 8
            self._granted = 0
        room = max(1, min(MOST, int(TURN / max(self._cost, 1e-6))))
        waiting = [level for level in self._levels() if level.backlog]
        if waiting:
            self._first += 1
            total = sum(level.limit for level in waiting) or 1
            for at in range(len(waiting)):
                level = waiting[(self._first + at) % len(waiting)]
                self._left = max(1, room * level.limit // total)
                level.dispatch()
        self._left = room
