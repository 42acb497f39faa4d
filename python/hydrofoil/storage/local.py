"""The default log: the view itself is the truth, in this process's memory only."""

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
    """Return the first revision of a new log, such that versions from before a restart have expired.

    No run writes more than once a microsecond on average, so that no version is assigned twice.
    """
    return clock.nanoseconds() // 1000 - EPOCH * 1_000_000


class LocalLog:
    """One counter of revisions for all collections; each is at the counter, whichever was written last."""

    direct = True
    patience = 3.0
    """The time that a read waits for a version that is not reached (RV-36)."""

    _native: engine.Local
    _view: View
    _advanced: Callable[[], None]

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        self._native = engine.Local(view, first_revision(clock))
        self._view = view
        self._advanced = advanced

    def follow(self, name: Name, resource: ResourceType) -> None:
        """Return at once: there is nothing to load."""

    def forget(self, name: Name) -> None:
        """Do nothing: the view is the only copy."""

    def latest(self, name: Name) -> int:
        return self._native.revision

    async def ask(self, name: Name) -> int:
        return self._native.revision

    def compact(self) -> None:
        self._view.compact()

    def problem(self) -> str:
        return ""

    async def close(self) -> None:
        """Do nothing: no work continues beside the calls."""

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
