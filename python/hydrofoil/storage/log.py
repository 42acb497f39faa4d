"""The interfaces of a log: the feed of a view, and conditional writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from hydrofoil.clock import Clock
from hydrofoil.engine import Change, Checkpoint, ResourceType, Stored, View

Name = tuple[str, str]
"""Group and plural of stored objects: several types may share one collection."""


def key(name: Name) -> str:
    """Return the view's key of a collection."""
    return "/".join(name)


class Encrypted(Protocol):
    """A storage whose objects may be encrypted."""

    def stale(self, change: Change) -> bool:
        """Report whether the object of an update is stored in another form than it would be written in now."""

    def unreadable(self, name: Name) -> str | None:
        """Return why objects of a collection cannot be decrypted, with the key of one; None if all of them can."""

    def unreadable_object(self, name: Name, of: str) -> str | None:
        """Return why the object of a key cannot be decrypted; None if it can, or does not exist."""


class Source(Protocol):
    """A feed of a view: `view.apply(change, revision)`, `view.progress(name, revision)`, and `view.replace(name,
    states, revision)` after a loss of its place.

    It may use any thread, one at a time for each collection. Events of a collection are in the order of their
    revisions, each once; revisions may have gaps; `progress` promises that none below follows.
    """

    patience: float
    """The time in seconds that a read of a known revision waits for the feed."""
    endurance: float
    """The time in seconds that a read of the latest revision waits: finding it may take as long as a request."""
    direct: bool
    """Whether the view has every acknowledged write at once, and so is always up to date."""
    at_once: bool
    """Whether a commit is complete within the call, and no object is older than this process."""
    leases: bool
    """Whether it ends events by itself, some time after their last write."""
    encrypted: Encrypted | None
    """The encryption, once the source is open; None if no object is encrypted."""

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        """Begin to feed a view. `advanced` is called by the loop when the source applied a change within a call."""

    def follow(self, name: Name, resource: ResourceType) -> Awaitable[None] | None:
        """Load a collection, then feed it; return an awaitable if that takes time. Other collections stay untouched."""

    def started(self) -> None:
        """All collections that existed at the start are followed: those that follow later begin at the present."""

    def forget(self, name: Name) -> None:
        """Stop feeding a collection."""

    def latest(self, name: Name) -> int | None:
        """Return the latest revision of a collection; None if only `ask` can find it."""

    async def ask(self, name: Name) -> int:
        """Return the same, by one query for all waiting callers. Raise Unavailable."""

    def compact(self) -> None:
        """End the history of the view now."""

    def problem(self) -> str:
        """Return the problem that health checks report; empty if absent."""

    def fault(self, name: Name, key: str) -> str:
        """Return why an object cannot be read; empty if it can, or is absent."""

    async def close(self) -> None:
        """Stop feeding."""


class Log(Source, Protocol):
    """A log of conditional writes. No revision is assigned twice, over restarts and crashes."""

    def commit(self, change: Change) -> Coroutine[Any, Any, Stored]:
        """Write, and return once the change is acknowledged and in the view: the new version, or the last state of a
        deleted object at the revision of its deletion.

        Raise Exists, Missing and Conflict if it was not done and the view shows why, Unavailable if it was not done
        (Refused: by the disk), Unknown if that cannot be known (Undecided: because of the disk). It continues when the
        caller is cancelled.
        """

    def restore(self, state: Checkpoint) -> int:
        """Return to a state of the view at once: an event for each difference, at revisions of their own.

        Return the number of differences. Raise Unsupported.
        """
