"""How many requests may be answered at a time (apiserver `pkg/server/filters/maxinflight.go`)."""

from __future__ import annotations

LONG_RUNNING = frozenset(("attach", "exec", "proxy", "log", "portforward"))
"""Subresources that, like watches, last as long as their client wants (controlplane `apiserver/config.go`)."""
REFUSAL = b"Too many requests, please try again later.\n"
REFUSAL_HEADERS = b"Retry-After: 1\r\nX-Content-Type-Options: nosniff\r\n"


class Slots:
    """The places of one class of requests; a limit of 0 is none.

    Whatever is answered within a turn of the loop leaves before another comes: only bodies that are still arriving,
    lists whose readers are slow, and webhooks ever hold places beside each other.
    """

    __slots__ = ("limit", "taken")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.taken = 0

    @property
    def full(self) -> bool:
        """Whether another request has to be refused."""
        return 0 < self.limit <= self.taken


class InFlight:
    """Requests being answered, by class. Documents and probes do not count: none of them ever waits."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading = Slots(reading)
        self.writing = Slots(writing)
        self._unbounded = Slots(0)

    def slots(self, verb: str, subresource: str) -> Slots:
        """The class of a request."""
        if verb == "watch" or (subresource and subresource in LONG_RUNNING):
            return self._unbounded
        return self.reading if verb in ("get", "list") else self.writing
