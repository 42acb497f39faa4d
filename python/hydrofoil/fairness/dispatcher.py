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


class Dispatcher:
    """Run the requests that wait in queues, some in each turn of the loop."""

    def __init__(self, levels: Callable[[], Sequence[engine.Queues]], clock: Clock) -> None:
        """`levels` returns the queues that may have waiting requests."""
        self.native = engine.LoopTurns(self, current_turn().request_clock, shares.QUEUED, shares.ARRIVALS)
        self._levels = levels
        self._clock = clock
        self._first = 0

    def mark(self) -> None:
        """Note the end of the present turn."""
        asyncio.get_running_loop().call_soon(self._end)

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
                for granted in level.dispatch(max(1, room * level.limit // total)):
                    # Its client may have disconnected.
                    if not granted.done():
                        granted.set_result(None)
