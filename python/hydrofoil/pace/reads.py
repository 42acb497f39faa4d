"""Input that many clients send together, parsed over several turns of the event loop."""

from __future__ import annotations

from hydrofoil.clock import stopwatch
from hydrofoil.pace.queues import Call, CallQueue, Ending

STEP = 16
"""The reads between two looks at the clock. Parsing a request takes some 30 microseconds, a look a tenth of one."""


class ReadQueue(CallQueue):
    """The share of input in each turn. A connection counts each read in `count`, and asks `take` from `check` on.

    Few turns have as many reads as `STEP`, so that a single request pays for an addition and a comparison.
    """

    __slots__ = ("_begun", "check", "count")

    def __init__(self, turn: Ending, seconds: float) -> None:
        super().__init__(turn, seconds)
        self.count = 0
        """The reads since the last turn that ended by a mark."""
        self.check = STEP
        """The count from which `take` has to be asked."""
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
            self._turn.arm()
        elif now - self._begun > self.seconds:
            self.check = 0
            return False
        self.check = self.count + STEP
        return True

    def defer(self, call: Call) -> None:
        """Parse input in a later turn; until all that waits is parsed, further input waits behind it."""
        self.check = 0
        super().defer(call)

    def renew(self) -> None:
        """Begin a turn with the input that waits."""
        self._begun = 0.0
        super().renew()
        self.count = 0
        self.check = 0 if self._waiting else STEP
