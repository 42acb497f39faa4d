"""Delays that grow with each failure of one thing (client-go `util/flowcontrol/backoff.go`)."""

from __future__ import annotations

from typing import NamedTuple

from hydrofoil.clock import Clock

FIRST, LONGEST = 1.0, 900.0
"""The delays in seconds."""
MOST = 1024
"""The number of entries from which on those that have expired are looked for."""


class Entry(NamedTuple):
    """The delay of a thing, and when it failed last, in seconds of the server's clock."""

    delay: float
    failed: float


class PodBackoff:
    """The delays before failed pods are deleted: a node may refuse each new one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[str, Entry] = {}

    def _present(self, key: str) -> Entry | None:
        """Return an entry that has not expired: after twice the longest delay, a thing counts as stable."""
        found = self._entries.get(key)
        if found is not None and self._clock.seconds() - found.failed > 2 * LONGEST:
            return None
        return found

    def remaining(self, key: str) -> float:
        """Return how long to wait in seconds, 0 if it is time (`IsInBackOffSinceUpdate`)."""
        found = self._present(key)
        if found is None or self._clock.seconds() - found.failed >= found.delay:
            return 0.0
        return found.delay

    def next(self, key: str) -> None:
        """Count a failure."""
        found = self._present(key)
        delay = FIRST if found is None else min(2 * found.delay, LONGEST)
        self._entries[key] = Entry(delay, self._clock.seconds())
        if len(self._entries) > MOST:
            self._entries = {one: entry for one, entry in self._entries.items() if self._present(one) is not None}
