"""Cheap counts: plain numbers until someone looks at the metrics."""

from __future__ import annotations

import math
from typing import Self

from hydrofoil import engine


class Histogram(engine.Histogram):
    """Numbers of values by bucket, and their sum; native, since each request counts several."""

    __slots__ = ()

    @classmethod
    def of(cls, counted: engine.Histogram) -> Self:
        """Return the present state of a native histogram."""
        found = cls(counted.buckets)
        found.add(counted)
        return found

    def copy(self) -> Self:
        """Return the present state."""
        return self.of(self)

    def cumulative(self) -> list[tuple[str, float]]:
        """Return the upper bounds, as Go writes them, and the numbers up to them."""
        total, found = 0, []
        for bound, count in zip((*(f"{b:g}" for b in self.buckets), "+Inf"), self.counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found

    def quantile(self, part: float) -> float:
        """Return about the value that a part of all values does not exceed: values lie evenly in their buckets.

        NaN without values; beyond the last bound that bound.
        """
        counts = self.counts
        wanted = part * sum(counts)
        total, lower = 0, 0.0
        for count, upper in zip(counts, self.buckets, strict=False):
            if count and total + count >= wanted:
                return lower + (upper - lower) * (wanted - total) / count
            total, lower = total + count, upper
        return lower if total < sum(counts) else math.nan
