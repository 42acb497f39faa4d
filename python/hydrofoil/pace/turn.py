"""The turn of an event loop: one budget, shared by all servers and tasks of the loop."""

from __future__ import annotations

import asyncio
import logging
from weakref import WeakKeyDictionary

from hydrofoil import engine
from hydrofoil.errors import FAULTS
from hydrofoil.pace import shares
from hydrofoil.pace.queues import CallQueue, ResumeQueue, Share
from hydrofoil.pace.reads import ReadQueue

LOG = logging.getLogger("hydrofoil")


class Turn:
    """The present turn of one loop. Each class of work asks its share, and continues in a later turn without one.

    A turn ends by a call that runs through the loop behind what is ready. It is asked for by the first class that uses
    its share: turns without such work, which are those of nearly all single requests, cost nothing.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._used: list[Share] = []
        """The shares to renew at the end of this turn."""
        self.request_clock = engine.RequestClock()
        """The time of requests: it stands still while handshakes, input or watchers have the loop."""
        self.set_aside = self.request_clock.set_aside
        self.handshakes = CallQueue(self, shares.HANDSHAKES)
        self.reads = ReadQueue(self, shares.READS)
        self.watchers = CallQueue(self, shares.WATCHERS)
        # Expressions are parts of requests: their time is not set aside.
        self.expressions = Share(self, shares.EXPRESSIONS)
        self.answers = ResumeQueue(self, shares.ANSWERS)
        self.results = ResumeQueue(self, shares.RESULTS)
        # What others leave of a turn is bookkeeping's: a hundred objects of a controller are few turns then, and what
        # follows from them is done together. Only classes with a queue give: who comes later waits there for a turn,
        # and keeps the next one.
        self.bookkeeping = ResumeQueue(self, shares.BOOKKEEPING, (self.handshakes, self.answers, self.results))
        ordered = (
            self.handshakes,
            self.reads,
            self.watchers,
            self.expressions,
            self.answers,
            self.results,
            self.bookkeeping,
        )
        self._places: dict[Share, int] = {share: place for place, share in enumerate(ordered)}

    def unbound(self) -> None:
        """Let each class of work take as long as it has to, from now on.

        Which piece of work a turn ends behind depends on the machine. Where the same requests have to have the same
        outcome, no turn ends before its work does.
        """
        for share in self._places:
            share.seconds = float("inf")

    def arm(self, share: Share) -> None:
        """Renew a share at the end of this turn."""
        if not self._used:
            self._loop.call_soon(self._end)
        self._used.append(share)

    def _end(self) -> None:
        """Begin the next turn: the classes continue in the order of their shares."""
        used, self._used = self._used, []
        if len(used) > 1:
            used.sort(key=self._places.__getitem__)
        for share in used:
            try:
                share.renew()
            except FAULTS:
                # A share that is not renewed is never asked for again.
                LOG.exception("a share of the turn failed")


_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, Turn] = WeakKeyDictionary()


def current_turn() -> Turn:
    """Return the turn of the running loop. Servers of one loop share it, since they share its time."""
    loop = asyncio.get_running_loop()
    if (turn := _TURNS.get(loop)) is None:
        turn = _TURNS[loop] = Turn(loop)
    return turn
