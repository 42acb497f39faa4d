"""The demand for seats of a priority level over time (apiserver `fairqueuing/integrator.go`, `seatDemandStats`)."""

from __future__ import annotations

import math

from hydrofoil.clock import stopwatch
from hydrofoil.counting import Histogram

SMOOTHING = 0.977
"""The part of the last smoothed demand in the next: its half-life is 5 minutes."""
RATIOS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 6.0)
"""The buckets of the part of a level's seats that is in demand."""


class Demand:
    """The number of seats in use and wanted, its greatest value, average and deviation since the last look."""

    __slots__ = ("_begun", "_ratios", "_since", "_times", "average", "deviation", "high", "most", "smoothed", "value")

    def __init__(self) -> None:
        self.value = 0
        self.most = 0
        """The greatest value since the last look."""
        self.high = 0
        """The greatest value between the last two looks; likewise the next two."""
        self.average = 0.0
        self.deviation = 0.0
        self.smoothed = 0.0
        self._begun = self._since = stopwatch()
        self._times: dict[int, float] = {}
        """How long each value lasted since the last look, in seconds."""
        self._ratios = Histogram(RATIOS)
        """The time of each ratio to the seats of the level before that, in nanoseconds."""

    def set(self, value: int) -> None:
        """Change the value."""
        now = stopwatch()
        passed, old = now - self._since, self.value
        times = self._times
        times[old] = times.get(old, 0.0) + passed
        self._since = now
        self.value = value
        self.most = max(self.most, value)

    def ratios(self, seats: int) -> Histogram:
        """Return how long each ratio to the seats of the level was in demand, in nanoseconds."""
        found = self._ratios.copy()
        for value, seconds in self._times.items():
            found.observe(value / max(seats, 1), round(1e9 * seconds))
        return found

    def look(self, seats: int) -> None:
        """Complete the figures of a period, and begin the next; the level had so many seats."""
        self.set(self.value)
        period = self._since - self._begun
        self.high, self.most = self.most, self.value
        if period > 0:
            self.average = sum(value * seconds for value, seconds in self._times.items()) / period
            squares = sum(value * value * seconds for value, seconds in self._times.items())
            self.deviation = math.sqrt(max(0.0, squares / period - self.average * self.average))
            envelope = self.average + self.deviation
            self.smoothed = max(envelope, SMOOTHING * self.smoothed + (1 - SMOOTHING) * envelope)
        self._ratios = self.ratios(seats)
        self._begun = self._since
        self._times.clear()
