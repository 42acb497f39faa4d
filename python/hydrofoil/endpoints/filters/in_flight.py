"""The limits on requests in flight (apiserver `pkg/server/filters/maxinflight.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil.answer import NOSNIFF, TEXT, Answer, Outcome
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Handler
from hydrofoil.engine import Region
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

    def take(self) -> bool:
        """Take a place; report whether there was one."""
        if 0 < self.limit <= self.taken:
            return False
        self.taken += 1
        return True

    def release(self, _: Outcome) -> None:
        """Release a place."""
        self.taken -= 1


class CommonSlots(Slots):
    """Places that all processes of a server have in common."""

    __slots__ = ("_counter", "_region")

    def __init__(self, limit: int, region: Region, counter: str) -> None:
        super().__init__(limit)
        self._region = region
        self._counter = region.counter(counter)

    def take(self) -> bool:
        """Take a place; report whether there was one."""
        if self.limit and not self._region.take(self._counter, 1, self.limit):
            return False
        self.taken += 1
        return True

    def release(self, _: Outcome) -> None:
        """Release a place."""
        self.taken -= 1
        if self.limit:
            self._region.add(self._counter, -1)


class InFlight:
    """Requests in flight, by class. Documents and probes do not count: they never wait."""

    def __init__(
        self, reading: int, writing: int, dropped: Callable[[Context], None], region: Region | None = None
    ) -> None:
        """Call `dropped` with each refused request; `region` is the memory of all processes of the server."""
        self.reading = CommonSlots(reading, region, "reading") if region is not None else Slots(reading)
        self.writing = CommonSlots(writing, region, "writing") if region is not None else Slots(writing)
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
            if not slots.take():
                self._dropped(context)
                return _refuse(context)
            context.at_end(slots.release)
        return inner(context)


async def _refuse(context: Context) -> Answer:
    return respond.answer(context, 429, REFUSAL, TEXT, context.common + REFUSAL_LINES)
