"""Counts of the work on the keys of a queue (client-go `util/workqueue/metrics.go`)."""

from __future__ import annotations

from hydrofoil.counting import Histogram

BUCKETS = tuple(10.0**n for n in range(-8, 2))


class Work:
    """The keys of a queue: how many came, and the seconds that they waited and took."""

    __slots__ = ("added", "repeated", "took", "waited")

    def __init__(self) -> None:
        self.added = 0
        self.repeated = 0
        """Keys that are to be processed again later."""
        self.waited = Histogram(BUCKETS)
        self.took = Histogram(BUCKETS)
