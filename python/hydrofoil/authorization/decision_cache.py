"""Decisions that are kept for a while (apimachinery `util/cache/lruexpirecache.go`)."""

from __future__ import annotations

from hydrofoil.clock import Clock
from hydrofoil.request import Verdict

MOST = 8192
"""The greatest number of decisions; the one that was not used for longest is removed first."""


class DecisionCache:
    """Decisions by their reviews."""

    __slots__ = ("_clock", "_entries")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[bytes, tuple[float, Verdict]] = {}
        """In the order of their use; the time of the end is in seconds since 1970."""

    def get(self, key: bytes) -> Verdict | None:
        """Return a decision that is still good."""
        found = self._entries.pop(key, None)
        if found is None or found[0] <= self._clock.seconds():
            return None
        self._entries[key] = found
        return found[1]

    def put(self, key: bytes, verdict: Verdict, seconds: float) -> None:
        """Keep a decision for some seconds."""
        if seconds <= 0:
            return
        entries = self._entries
        entries.pop(key, None)
        if len(entries) >= MOST:
            del entries[next(iter(entries))]
        entries[key] = (self._clock.seconds() + seconds, verdict)

    def __len__(self) -> int:
        return len(self._entries)
