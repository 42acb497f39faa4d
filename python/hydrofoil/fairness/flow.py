"""Requests of one flow schema in one priority level, and their counts."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr

from hydrofoil.counting import Histogram

SECONDS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
"""The buckets of durations (`requestDurationSecondsBuckets`)."""
SEATS = (1.0, 2.0, 4.0, 10.0)
LENGTHS = (0.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0)
"""The buckets of lengths of queues (`queueLengthBuckets`)."""
GUESS = 0.003
"""The seconds that a request is expected to take before it has run."""


class Work(Struct, frozen=True):
    """The estimated work of a request (apiserver `flowcontrol/request/width.go`)."""

    first: int = 1
    """Seats while it runs."""
    last: int = 0
    """Seats afterwards, while watchers get their events."""
    extra: float = 0.0
    """How long that is, in seconds."""
    most: int = 1
    """The seats that it takes; computed, as the next."""
    total: float = GUESS
    """All of it in seat-seconds, as far as is known before it runs."""

    def __post_init__(self) -> None:
        """Compute what follows, once for many requests."""
        force_setattr(self, "most", max(self.first, self.last))
        force_setattr(self, "total", self.first * GUESS + self.last * self.extra)


ONE = Work()


class Counts:
    """The counts of one schema in one level: `apiserver_flowcontrol_...`."""

    __slots__ = (
        "at_once",
        "dispatched",
        "executing",
        "execution",
        "lengths",
        "level",
        "regular",
        "rejected",
        "schema",
        "seats",
        "unfit",
        "waited",
        "waiting",
        "waiting_seats",
        "work",
    )

    def __init__(self, schema: str, level: str) -> None:
        self.schema = schema
        self.level = level
        self.executing = self.seats = self.waiting = self.waiting_seats = self.dispatched = self.unfit = 0
        self.at_once = 0
        """Requests that did not wait."""
        self.rejected: dict[str, int] = {}
        self.regular = Histogram(SECONDS)
        self.execution = {"regular": self.regular, "watch": Histogram(SECONDS)}
        self.waited = {"true": Histogram(SECONDS), "false": Histogram(SECONDS)}
        self.work = Histogram(SEATS)
        self.lengths = Histogram(LENGTHS)
        """The lengths that requests found in their queue with themselves, if they had to wait."""

    def reject(self, reason: str) -> None:
        """Count a refusal."""
        self.rejected[reason] = self.rejected.get(reason, 0) + 1


class Flow:
    """The requests that share a hand of queues: those of a schema with the same distinguisher."""

    __slots__ = ("counts", "distinguisher", "hand", "lines")

    def __init__(self, counts: Counts, distinguisher: str, hand: tuple[int, ...], lines: bytes) -> None:
        self.counts = counts
        self.distinguisher = distinguisher
        self.hand = hand
        self.lines = lines
        """The header lines of answers."""
