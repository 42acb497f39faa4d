"""The share of large answers in the loop."""

from __future__ import annotations

from hydrofoil.clock import stopwatch
from hydrofoil.pool import Returns

SLICE = 0.001
"""The seconds of a turn that one large answer takes."""


class Share:
    """The turns of one large answer. Its reader may be as fast as the server, and never let it wait.

    In a turn of the loop, one of the large answers of a server continues.
    """

    def __init__(self, turns: Returns) -> None:
        self._turns = turns
        self._until = 0.0

    async def more(self) -> None:
        """Continue at once within the time of a turn; after it, wait for the next turn of this answer."""
        if stopwatch() >= self._until:
            await self._turns.turn()
            self._until = stopwatch() + SLICE
