"""How many requests may be answered at a time (apiserver `pkg/server/filters/maxinflight.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil.answer import TEXT, Answer, Outcome
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Handler
from hydrofoil.request import RequestInfo

REFUSAL = b"Too many requests, please try again later.\n"
REFUSAL_LINES = b"Retry-After: 1\r\n" + respond.NOSNIFF


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

    def release(self, _: Outcome) -> None:
        """Give a place back."""
        self.taken -= 1


class InFlight:
    """Requests being answered, by class. Documents and probes do not count: none of them ever waits."""

    def __init__(self, reading: int, writing: int, dropped: Callable[[Context], None]) -> None:
        """`dropped` is told of each request that is refused."""
        self.reading = Slots(reading)
        self.writing = Slots(writing)
        self._dropped = dropped

    def slots(self, info: RequestInfo) -> Slots | None:
        """The class of a request; None for what has no limit."""
        if not info.resourceful or info.lasting:
            return None
        return self.reading if info.verb in ("get", "list") else self.writing

    def filter(self, context: Context, inner: Handler) -> Awaitable[Answer]:
        """Answer 429 while all places of a class are taken."""
        slots = self.slots(context.info)
        if slots is not None:
            if slots.full:
                self._dropped(context)
                return _refused(context)
            slots.taken += 1
            context.at_end(slots.release)
        return inner(context)


async def _refused(context: Context) -> Answer:
    return respond.answer(context, 429, REFUSAL, TEXT, context.common + REFUSAL_LINES)
