"""Records that wait for their batch (apiserver `plugin/pkg/audit/buffered`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from hydrofoil.audit.options import Delivery
from hydrofoil.clock import Clock, Timer

MOST_BYTES = 64 << 20
"""The greatest size of all waiting records together; upstream counts them only."""


class Batches:
    """A bounded queue whose batches are full, or have waited long enough; a throttle limits their rate."""

    def __init__(self, delivery: Delivery, clock: Clock, ready: Callable[[list[bytes]], bool]) -> None:
        """Call `ready` with each batch; it returns False while it cannot take one: `resume` asks again."""
        self._delivery = delivery
        self._clock = clock
        self._ready = ready
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._timer: Timer | None = None
        self._due = False
        self._tokens = float(delivery.burst)
        self._filled = clock.seconds()

    def put(self, line: bytes) -> bool:
        """Add a record; return False if there is no room for it."""
        delivery = self._delivery
        if len(self._waiting) >= delivery.buffer or self._bytes + len(line) > MOST_BYTES:
            return False
        self._waiting.append(line)
        self._bytes += len(line)
        if len(self._waiting) >= delivery.size:
            self._send()
        elif self._timer is None:
            self._timer = self._clock.later(delivery.wait, self._waited)
        return True

    def _waited(self) -> None:
        self._timer = None
        self._due = True
        self._send()

    def resume(self) -> None:
        """Send what is ready."""
        self._send()

    def _send(self) -> None:
        """Send batches that are full, and one that has waited long enough."""
        size = self._delivery.size
        while self._waiting and (self._due or len(self._waiting) >= size):
            if (wait := self._pause()) > 0.0:
                self._again(wait)
                return
            batch = [self._waiting[at] for at in range(min(size, len(self._waiting)))]
            if not self._ready(batch):
                return
            for line in batch:
                self._waiting.popleft()
                self._bytes -= len(line)
            self._tokens -= 1.0
            self._due = len(batch) == size and self._due
        if self._waiting and self._timer is None:
            self._timer = self._clock.later(self._delivery.wait, self._waited)

    def _pause(self) -> float:
        """Return the seconds until the throttle allows the next batch."""
        delivery = self._delivery
        if not delivery.throttled:
            return 0.0
        now = self._clock.seconds()
        self._tokens = min(float(delivery.burst), self._tokens + (now - self._filled) * delivery.rate)
        self._filled = now
        return max(0.0, (1.0 - self._tokens) / delivery.rate)

    def _again(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = self._due or len(self._waiting) < self._delivery.size
        self._timer = self._clock.later(seconds, self._retry)

    def _retry(self) -> None:
        self._timer = None
        self._send()

    def rest(self) -> list[bytes]:
        """Take all that waits: nothing follows."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        found = list(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        return found
