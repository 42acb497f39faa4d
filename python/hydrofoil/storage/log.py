"""Where the truth is: what feeds a view, and what accepts writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from hydrofoil.clock import Clock
from hydrofoil.engine import Change, ResourceType, Stored, View

Name = tuple[str, str]
"""Group and plural under which objects are stored: several types may show one collection."""


def key(name: Name) -> str:
    """How a view calls a collection."""
    return "/".join(name)


class Source(Protocol):
    """Feeds a view: `view.apply(change, revision)`, `view.progress(name, revision)`, and `view.replace(name, states,
    revision)` when it lost its place.

    It may do so from any thread, one at a time for each collection. Events of a collection come in the order of their
    revisions, each once; revisions may have gaps; `progress` promises that none below follows.
    """

    patience: float
    """Seconds that a read waits for the feed."""
    direct: bool
    """Whether the view itself is the truth, and so always as far."""

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        """Begin to feed a view. `advanced` is called by the loop when the source applied something within a call."""

    def follow(self, name: Name, resource: ResourceType) -> Awaitable[None] | None:
        """Load a collection, then feed it; an awaitable where that takes time. What nobody follows stays untouched."""

    def forget(self, name: Name) -> None:
        """Feed a collection no longer."""

    def latest(self, name: Name) -> int | None:
        """How far the truth of a collection is; None where only asking tells."""

    async def ask(self, name: Name) -> int:
        """The same, one question for all who wait. Raises Unavailable."""

    def compact(self) -> None:
        """End the history of the view now."""

    def problem(self) -> str:
        """What is wrong, for those who ask whether the server is well; empty when nothing is."""

    async def close(self) -> None:
        """Feed nothing any more."""


class Log(Source, Protocol):
    """Accepts conditional writes. No revision is ever given twice, over restarts and crashes."""

    def commit(self, change: Change) -> Coroutine[Any, Any, Stored]:
        """Write, and return once the change is acknowledged and in the view: the new version, or the last state of what
        went at the revision of its deletion.

        Raises Exists, Missing and Conflict when it was not done and the view shows why, Unavailable when it was not
        done, Unknown when nobody can tell. It goes on when the caller is cancelled.
        """
