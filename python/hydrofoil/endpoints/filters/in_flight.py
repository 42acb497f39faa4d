"""The limits on requests in flight (apiserver `pkg/server/filters/maxinflight.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil.answer import NOSNIFF, TEXT, Answer, Outcome
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Handler
from hydrofoil.request import RequestInfo

REFUSAL = b"Too many requests, please try again later.\n"
REFUSAL_LINES = b"Retry-After: 1\r\n" + NOSNIFF


class Slots:
    """The places of one class of requests; a limit of 0 means no limit.

    A request answered within one turn of the loop leaves before the next arrives: only requests with bodies still
    arriving, lists with slow readers, and webhook calls hold places at the same time.
    """

    __slots__ = ("limit", "taken")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.taken = 0

    @property
    def full(self) -> bool:
        """Report whether another request must be refused."""
        return 0 < self.limit <= self.taken

    def release(self, _: Outcome) -> None:
        """Release a place."""
        self.taken -= 1


class InFlight:
    """Requests in flight, by class. Documents and probes do not count: they never wait."""

    def __init__(self, reading: int, writing: int, dropped: Callable[[Context], None]) -> None:
        """Call `dropped` with each refused request."""
        self.reading = Slots(reading)
        self.writing = Slots(writing)
        self._dropped = dropped

    def slots(self, info: RequestInfo) -> Slots | None:
        """Return the class of a request; None if it has no limit."""
        if not info.resourceful or info.lasting:
            return None
        return self.reading if info.verb in ("get", "list") else self.writing

    def filter(self, context: Context, inner: Handler) -> Awaitable[Answer]:
        """Answer 429 while all places of a class are taken."""
        slots = self.slots(context.info)
        if slots is not None:
            if slots.full:
                self._dropped(context)
                return _refuse(context)
            slots.taken += 1
            context.at_end(slots.release)
        return inner(context)


async def _refuse(context: Context) -> Answer:
    return respond.answer(context, 429, REFUSAL, TEXT, context.common + REFUSAL_LINES)
