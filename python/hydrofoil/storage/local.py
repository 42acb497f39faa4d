"""The default log: the view itself is the truth, in this process's memory only."""

from __future__ import annotations

from collections.abc import Callable

from hydrofoil import engine
from hydrofoil.clock import Clock
from hydrofoil.engine import Change, Checkpoint, ResourceType, Stored, View
from hydrofoil.storage.errors import Conflict, Exists, Missing
from hydrofoil.storage.log import Guarded, Name

EPOCH = 1_767_225_600
"""2026-01-01: revisions start at the microseconds since then."""


def first_revision(clock: Clock) -> int:
    """Return the first revision of a new log, such that versions from before a restart have expired.

    No run writes more than once a microsecond on average, so that no version is assigned twice. A clock that was set to
    an earlier time begins after revision 1, that of the empty store.
    """
    return max(clock.nanoseconds() // 1000 - EPOCH * 1_000_000, 1)


class LocalLog:
    """One counter of revisions for all collections; each is at the counter, whichever was written last."""

    direct = True
    is_loaded = True
    at_once = True
    leases = False
    guarded: Guarded | None = None
    known_revision_timeout = 3.0
    """The time that a read waits for a version that is not reached (RV-36)."""
    latest_revision_timeout = 3.0

    _native: engine.Local
    _view: View
    _advanced: Callable[[], None]

    def __init__(self, begin: Checkpoint | None = None) -> None:
        """`begin` is the state of another log to start with; its revisions are older than every new one."""
        self._begin = begin

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        begin, self._begin = self._begin, None
        first = first_revision(clock)
        self._native = engine.Local(view, first if begin is None else max(first, begin.revision))
        if begin is not None:
            view.begin_with(begin)
        self._view = view
        self._advanced = advanced

    @property
    def native(self) -> engine.Local:
        """Return the counter and judge of writes, for other threads."""
        return self._native

    def follow(self, name: Name, resource: ResourceType) -> None:
        """Return at once: there is nothing to load."""

    def started(self) -> None:
        """Do nothing: no collection is loaded."""

    def forget(self, name: Name) -> None:
        """Do nothing: the view is the only copy."""

    def latest(self, name: Name) -> int:
        return self._native.revision

    def catch_up(self) -> bool:
        """Return True: the view is the log."""
        return True

    async def ask(self, name: Name) -> int:
        return self._native.revision

    def compact(self) -> None:
        self._view.compact()

    def restore(self, state: Checkpoint) -> int:
        changed = self._native.restore(self._view, state)
        self._advanced()
        return changed

    def problem(self) -> str:
        return ""

    async def close(self) -> None:
        """Do nothing: no work continues beside the calls."""

    @property
    def revision(self) -> int:
        """Return the revision of the latest write."""
        return self._native.revision

    def put(self, change: Change) -> Stored:
        """Do what `commit` does, within the call."""
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

    async def commit(self, change: Change) -> Stored:
        return self.put(change)
