"""The demand for seats of a priority level over time (apiserver `fairqueuing/integrator.go`, `seatDemandStats`)."""

from __future__ import annotations

import math

from hydrofoil.clock import stopwatch

SMOOTHING = 0.977
"""The part of the last smoothed demand in the next: its half-life is 5 minutes."""


class Demand:
    """The number of seats in use and wanted, its greatest value, average and deviation since the last look."""

    __slots__ = ("_begun", "_since", "_squares", "_sum", "average", "deviation", "high", "most", "smoothed", "value")

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
        self._sum = self._squares = 0.0

    def set(self, value: int) -> None:
        """Change the value."""
        now, old = stopwatch(), self.value
        if old:
            passed = (now - self._since) * old
            self._sum += passed
            self._squares += passed * old
        self._since = now
        self.value = value
        self.most = max(self.most, value)

    def look(self) -> None:
        """Complete the figures of a period, and begin the next."""
        self.set(self.value)
        period = self._since - self._begun
        self.high, self.most = self.most, self.value
        if period > 0:
            self.average = self._sum / period
            self.deviation = math.sqrt(max(0.0, self._squares / period - self.average * self.average))
            envelope = self.average + self.deviation
            self.smoothed = max(envelope, SMOOTHING * self.smoothed + (1 - SMOOTHING) * envelope)
        self._begun, self._sum, self._squares = self._since, 0.0, 0.0
