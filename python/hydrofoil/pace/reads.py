"""Input that many clients send together, parsed over several turns of the event loop."""

from __future__ import annotations

from hydrofoil.clock import stopwatch
from hydrofoil.pace.queues import Call, CallQueue, Ending

STEP = 16
"""The reads between two looks at the clock. Parsing a request takes some 30 microseconds, a look a tenth of one."""


class ReadQueue(CallQueue):
    """The share of input in each turn. A connection takes each read from `unasked`, and asks `take` below zero.

    Few turns have as many reads as `STEP`, so that a single request pays for a subtraction and a comparison.
    """

    __slots__ = ("_begun", "unasked")

    def __init__(self, turn: Ending, seconds: float) -> None:
        super().__init__(turn, seconds)
        self.unasked = STEP
        """The reads before `take` has to be asked."""
        self._begun = 0.0
        """When the reads of this turn were first measured; 0 if they were not."""

    def take(self) -> bool:
        """Report whether a read may be parsed in this turn; one that may not has to be deferred."""
        if self._waiting:
            # Input of one connection must not overtake itself.
            return False
        now = stopwatch()
        if not self._begun:
            # Reads of earlier turns may be among those counted: only from here on they are of this one.
            self._begun = now
            self._arm()
        elif now - self._begun > self.seconds:
            return False
        self.unasked = STEP
        return True

    def defer(self, call: Call) -> None:
        """Parse input in a later turn; until all that waits is parsed, further input waits behind it."""
        self.unasked = 0
        super().defer(call)

    def renew(self) -> None:
        """Begin a turn with the input that waits."""
        self._begun = 0.0
        # Input that waited is parsed by the same method: it is not asked again.
        self.unasked = len(self._waiting) + STEP
        super().renew()
        self.unasked = 0 if self._waiting else STEP
