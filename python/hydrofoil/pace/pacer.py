"""Work in pieces, which leaves turns of the loop to others in between."""

from __future__ import annotations

from hydrofoil.clock import stopwatch
from hydrofoil.pace.turn import current_turn


class Pacer:
    """The pauses of one task that works in pieces. Of all such tasks of a loop, one continues in each turn."""

    __slots__ = ("_end", "_queue")

    def __init__(self) -> None:
        self._queue = current_turn().bookkeeping
        self._end = stopwatch() + self._queue.seconds

    def is_due(self) -> bool:
        """Report whether others should have a turn."""
        return stopwatch() > self._end

    async def pause(self) -> None:
        """Leave the loop to others if this task has had its share; call it between two pieces."""
        if stopwatch() > self._end:
            await self._queue.wait()
            self._end = stopwatch() + self._queue.granted


class AnswerPacer:
    """The pauses of one large answer. Its reader may be as fast as the server, and never let it wait."""

    __slots__ = ("_end", "_queue")

    def __init__(self) -> None:
        self._queue = current_turn().answers
        self._end = 0.0

    async def pause(self) -> None:
        """Continue at once within the share of a turn; after it, in the next turn of this answer."""
        if stopwatch() >= self._end:
            await self._queue.resume()
            self._end = stopwatch() + self._queue.seconds
