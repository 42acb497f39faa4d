"""Cheap counts: plain numbers until someone looks at the metrics."""

from __future__ import annotations

from hydrofoil import engine


class Histogram(engine.Histogram):
    """Numbers of values by bucket, and their sum; native, since each request counts several."""

    __slots__ = ()

    def copy(self) -> Histogram:
        """Return the present state."""
        found = Histogram(self.buckets)
        found.add(self)
        return found

    def cumulative(self) -> list[tuple[str, float]]:
        """Return the upper bounds, as Go writes them, and the numbers up to them."""
        total, found = 0, []
        for bound, count in zip((*(f"{b:g}" for b in self.buckets), "+Inf"), self.counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found
