"""The part of a priority level's seats that is in demand, over time (apiserver `timing_ratio_histogram.go`)."""

from __future__ import annotations

from hydrofoil import engine
from hydrofoil.counting import Histogram

RATIOS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 6.0)
"""The buckets of the part that is in demand."""


class Ratios:
    """How long each ratio of the demand to the seats of a level lasted, in nanoseconds."""

    __slots__ = ("_past", "_seats")

    def __init__(self, seats: engine.Seats) -> None:
        self._seats = seats
        self._past = Histogram(RATIOS)
        """Until the last look."""

    def until(self, nominal: int, now: float) -> Histogram:
        """Return the times until now; the level has had so many seats since the last look."""
        found = self._past.copy()
        for demand, seconds in self._seats.lasted(now):
            found.observe(demand / max(nominal, 1), round(1e9 * seconds))
        return found

    def look(self, nominal: int, now: float) -> None:
        """Complete the figures of a period, and begin the next."""
        self._past = self.until(nominal, now)
        self._seats.look(now)
