"""The header Retry-After of refused requests (apiserver `pkg/util/flowcontrol/dropped_requests_tracker.go`)."""

from __future__ import annotations

MOST = 32
"""The greatest number of seconds."""


class RetryAfter:
    """The seconds after which clients of a priority level should try again: the more, the more are refused."""

    def __init__(self) -> None:
        self.seconds = 1
        self._history: list[tuple[int, int]] = []
        self._second = 0
        self._count = 0
        self._updated = 0

    def refused(self, now: int) -> int:
        """Count a refusal in a second since 1970, and return the seconds to wait."""
        if self._second == now:
            self._count += 1
            return self.seconds
        self._history.append((self._second, self._count))
        limit = min(2 * self.seconds, MOST)
        self._history = [(at, n) for at, n in self._history if self._second - at <= limit]
        self._second, self._count = now, 1
        self._update(now)
        return self.seconds

    def _update(self, now: int) -> None:
        wait = self.seconds
        dropped = sum(n for at, n in self._history if at < now and now - at <= wait)
        if now - self._updated >= wait and dropped >= 3 * wait:
            self.seconds, self._updated = min(2 * wait, MOST), now
        elif dropped < wait and wait > 1:
            self.seconds = wait - 1
