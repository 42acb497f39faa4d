"""The interfaces of a log: the feed of a view, and conditional writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol

from hydrofoil.clock import Clock
from hydrofoil.engine import Change, Checkpoint, ResourceType, Stored, View
from hydrofoil.storage.unreadable import Fault

Name = tuple[str, str]
"""Group and plural of stored objects: several types may share one collection."""


def key(name: Name) -> str:
    """Return the view's key of a collection."""
    return "/".join(name)


class Guarded(Protocol):
    """A storage some of whose values may be unreadable: encrypted by a key that is gone, or damaged."""

    def stale(self, change: Change) -> bool:
        """Report whether the object of an update is stored in another form than it would be written in now."""

    def faults(self, name: Name) -> Sequence[Fault]:
        """Return the objects of a collection that cannot be read, in the order of their keys."""

    def fault(self, name: Name, of: str) -> Fault | None:
        """Return why the object of a key cannot be read; None if it can, or does not exist."""

    def discard(self, name: Name, of: str, revision: int, resource: ResourceType) -> Coroutine[Any, Any, None]:
        """Delete the object of a key that cannot be read. Raise Missing, Conflict, and as `commit`."""


class Source(Protocol):
    """A feed of a view: `view.apply(change, revision)`, `view.progress(name, revision)`, and `view.replace(name,
    states, revision)` after a loss of its place.

    It may use any thread, one at a time for each collection. Events of a collection are in the order of their
    revisions, each once; revisions may have gaps; `progress` promises that none below follows.
    """

    known_revision_timeout: float
    """The time in seconds that a read of a known revision waits for the feed."""
    latest_revision_timeout: float
    """The time in seconds that a read of the latest revision waits: finding it may take as long as a request."""
    direct: bool
    """Whether the view has every acknowledged write at once, and so is always up to date."""
    is_loaded: bool
    """Whether `follow` has nothing to load, whichever collection it is."""
    at_once: bool
    """Whether a commit is complete within the call, and no object is older than this process."""
    leases: bool
    """Whether it ends events by itself, some time after their last write."""
    guarded: Guarded | None
    """The source itself once it is open, if some of its values may be unreadable."""

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

    def catch_up(self) -> bool:
        """Bring the view up to the log as far as that takes no time; report whether it has every acknowledged write."""

    async def ask(self, name: Name) -> int:
        """Return the same, by one query for all waiting callers. Raise Unavailable."""

    def compact(self) -> None:
        """End the history of the view now."""

    def problem(self) -> str:
        """Return the problem that health checks report; empty if absent."""

    async def close(self) -> None:
        """Stop feeding."""


class Log(Source, Protocol):
    """A log of conditional writes. No revision is assigned twice, over restarts and crashes.

    The contract tests (`tests/contract`) run on every log: one that passes them serves the whole API. A log over
    another one is the shortest:

    >>> import asyncio
    >>> from hydrofoil.apis.catalog import Catalog
    >>> from hydrofoil.storage.local import LocalLog
    >>> from hydrofoil.storage.storage import Storage
    >>> class CountingLog(LocalLog):
    ...     commits = 0
    ...     async def commit(self, change):
    ...         self.commits += 1
    ...         return await super().commit(change)
    >>> async def main(log):
    ...     storage = Storage(log, Clock())
    ...     await storage.open()
    ...     maps = Catalog().find("", "v1", "configmaps")
    ...     collection = storage.collection(maps.storage, maps.native)
    ...     draft, _ = maps.native.decode(b'{"metadata": {"name": "a", "namespace": "n"}}', "json")
    ...     stored = await collection.create(draft)
    ...     assert collection.get(maps.native, "n", "a").revision == stored.revision
    ...     await storage.close()
    ...     return log.commits
    >>> asyncio.run(main(CountingLog()))
    1
    """

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
