"""The time of the loop, shared by the requests of all priority levels.

Requests that find their turn of the loop used up wait in their queue, so that of many at once those of other flows are
served first. Without that the loop would serve whatever arrived, and one client with many connections most of all.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from hydrofoil import engine
from hydrofoil.clock import Clock
from hydrofoil.errors import FAULTS
from hydrofoil.pace import shares
from hydrofoil.pace.turn import current_turn

LOG = logging.getLogger("hydrofoil")


LOOK_SECONDS = 0.002
"""The time between looks for seats that another process has given back, while requests wait."""
MOST_GRANTED = 16
"""The number of requests of a level that such a look runs at most."""


class Dispatcher:
    """Run the requests that wait in queues, some in each turn of the loop."""

    def __init__(
        self, levels: Callable[[], Sequence[engine.Queues]], clock: Clock, *, has_others: bool = False
    ) -> None:
        """`levels` returns the queues that may have waiting requests.

        `has_others`: other processes take seats of the same levels, and say nothing when they give them back.
        """
        self._has_others = has_others
        self._looks = False
        """Whether there is a timer for the next look."""
        self.native = engine.LoopTurns(self, current_turn().request_clock, shares.QUEUED, shares.ARRIVALS)
        self._levels = levels
        self._clock = clock
        self._first = 0

    def mark(self) -> None:
        """Note the end of the present turn."""
        asyncio.get_running_loop().call_soon(self._end)

    def wait(self) -> None:
        """Look again soon, for a request that waits: seats may become free in another process."""
        if self._has_others and not self._looks:
            self._looks = True
            asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._looks = False
        for level in self._levels():
            if level.backlog:
                self._grant(level, MOST_GRANTED)
                self.wait()

    def later(self, seconds: float, release: Callable[[], None]) -> None:
        """Release seats when watchers have their events."""
        self._clock.later(seconds, release)

    def _end(self) -> None:
        """Run waiting requests of all levels, in proportion to their seats."""
        try:
            room = self.native.end()
        except FAULTS:
            # A turn that never ends looks used up, and all that wait in queues would wait for ever.
            LOG.exception("a turn of requests did not end")
            self.mark()
            return
        if room is None:
            return
        waiting = [level for level in self._levels() if level.backlog]
        if waiting:
            self._first += 1
            total = sum(level.limit for level in waiting) or 1
            for at in range(len(waiting)):
                level = waiting[(self._first + at) % len(waiting)]
                self._grant(level, max(1, room * level.limit // total))

    @staticmethod
    def _grant(level: engine.Queues, most: int) -> None:
        """Run some waiting requests of a level."""
        for granted in level.dispatch(most):
            # Its client may have disconnected.
            if not granted.done():
                granted.set_result(None)
