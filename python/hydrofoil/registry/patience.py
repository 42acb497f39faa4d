"""The time of the loop that expressions may take."""

from __future__ import annotations

import asyncio

from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import stopwatch
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import Cause

SECONDS = 0.001
"""The time for the expressions of all requests in one turn."""


class Patience:
    """The time that is left in a turn. Expressions that would take longer are begun anew off the loop.

    Those of a request may cost ten million units, which are over 0.2 s.
    """

    def __init__(self) -> None:
        self._left = SECONDS

    @property
    def left(self) -> float:
        """Return the seconds that are left; there is always time for the shortest expressions."""
        return max(self._left, 0.0)

    def spend(self, seconds: float) -> None:
        """Count the time of an evaluation."""
        if self._left == SECONDS:
            asyncio.get_running_loop().call_soon(self._renew)
        self._left -= seconds

    def _renew(self) -> None:
        self._left = SECONDS

    def causes(
        self, resource: Resource, draft: Draft, old: Stored | None = None, subresource: str = ""
    ) -> list[Cause] | None:
        """Validate a draft; None if the rules of its definition take too long."""
        if not resource.custom:
            return draft.validate(old, subresource)
        begun = stopwatch()
        found = draft.validate_within(self.left, old, subresource)
        self.spend(stopwatch() - begun)
        return found
