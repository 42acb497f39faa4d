"""The default log: the view itself is the truth, in this process and gone with it."""

from __future__ import annotations

from collections.abc import Callable

from hydrofoil import engine
from hydrofoil.clock import Clock
from hydrofoil.engine import Change, ResourceType, Stored, View
from hydrofoil.storage.errors import Conflict, Exists, Missing
from hydrofoil.storage.log import Name

EPOCH = 1_767_225_600
"""2026-01-01: revisions start at the microseconds since then."""


def first_revision(clock: Clock) -> int:
    """Where a new log starts to count, so that versions from before a restart have expired.

    No run writes more than once a microsecond on average, so that no version is ever given out twice.
    """
    return clock.nanoseconds() // 1000 - EPOCH * 1_000_000


class LocalLog:
    """One counter of revisions for all collections; each is as far as the counter, whichever was written last."""

    direct = True
    patience = 3.0
    """How long a read waits for a version that has not been reached (RV-36)."""

    _native: engine.Local
    _view: View
    _advanced: Callable[[], None]

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        self._native = engine.Local(view, first_revision(clock))
        self._view = view
        self._advanced = advanced

    def follow(self, name: Name, resource: ResourceType) -> None:
        """There is nothing to load."""

    def forget(self, name: Name) -> None:
        """What is there is the truth, and stays."""

    def latest(self, name: Name) -> int:
        return self._native.revision

    async def ask(self, name: Name) -> int:
        return self._native.revision

    def compact(self) -> None:
        self._view.compact()

    def problem(self) -> str:
        return ""

    async def close(self) -> None:
        """Nothing goes on beside the calls."""

    async def commit(self, change: Change) -> Stored:
        try:
            stored = self._native.commit(change)
        except engine.ExistsError:
            raise Exists from None
        except engine.MissingError:
            raise Missing from None
        except engine.ConflictError:
            raise Conflict from None
        self._advanced()
        return stored
