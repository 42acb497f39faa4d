"""Whether the upstream answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hydrofoil.clock import stopwatch


class Contact:
    """The last sign of the upstream, and why there has been none since.

    Any answer is a sign, whatever its status. A failed connection is none: it ends the contact, until the next sign.
    """

    def __init__(self) -> None:
        self.last = stopwatch()
        """When the last byte arrived."""
        self.problem = "not reached yet"
        """Why it does not answer; empty while it does."""
        self.changed = asyncio.Event()
        """Set, and replaced, whenever the contact ends or begins."""
        self._calls: list[Callable[[], None]] = []

    @property
    def away(self) -> bool:
        """Report whether the upstream does not answer."""
        return bool(self.problem)

    @property
    def age(self) -> int:
        """Return the whole seconds since the last sign."""
        return int(stopwatch() - self.last)

    def on_change(self, call: Callable[[], None]) -> None:
        """Register a call whenever the contact ends or begins."""
        self._calls.append(call)

    def forget(self, call: Callable[[], None]) -> None:
        """End such calls."""
        self._calls.remove(call)

    def answered(self) -> None:
        """Record a sign."""
        self.last = stopwatch()
        if self.problem:
            self.problem = ""
            self._report()

    def failed(self, why: str) -> None:
        """Record that the upstream cannot be reached."""
        before, self.problem = self.problem, why or "no answer"
        if not before:
            self._report()

    def _report(self) -> None:
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()
        for call in list(self._calls):
            call()
