"""Cheap counts: plain numbers until someone looks at the metrics."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


class Histogram:
    """Numbers of values by bucket, and their sum."""

    __slots__ = ("buckets", "counts", "sum")

    def __init__(self, buckets: Sequence[float]) -> None:
        """Take the upper bounds, in their order."""
        self.buckets = buckets
        self.counts = [0] * (len(buckets) + 1)
        self.sum = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        """Count a value, once or many times."""
        self.counts[bisect_left(self.buckets, value)] += times
        self.sum += value * times

    def add(self, other: Histogram) -> None:
        """Add the counts of another one, whose buckets are these and maybe finer ones."""
        for number, count in enumerate(other.counts):
            bound = other.buckets[number] if number < len(other.buckets) else float("inf")
            self.counts[bisect_left(self.buckets, bound)] += count
        self.sum += other.sum

    def copy(self) -> Histogram:
        """Return the present state."""
        found = Histogram(self.buckets)
        found.counts, found.sum = self.counts.copy(), self.sum
        return found

    def cumulative(self) -> list[tuple[str, float]]:
        """Return the upper bounds, as Go writes them, and the numbers up to them."""
        total, found = 0, []
        for bound, count in zip((*(f"{b:g}" for b in self.buckets), "+Inf"), self.counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found
