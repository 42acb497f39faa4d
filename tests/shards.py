"""A native shard that is its own truth, without a server."""

from __future__ import annotations

from hydrofoil import engine
from hydrofoil.engine import Change, Draft, Stored

CLOCK = engine.Clock()


class Kept:
    """One shard of a view, and the log that writes to it."""

    def __init__(
        self, start: int = 5, *, window: float = 300.0, events: int = 1_000_000, memory: int = 1 << 30
    ) -> None:
        self.view = engine.View(window, events, memory, None, CLOCK)
        self.log = engine.Local(self.view, start)
        self.shard = self.view.shard("x")

    def create(self, draft: Draft) -> Stored:
        """Store a new object."""
        return self.log.commit(Change.create(self.shard, draft))

    def update(self, old: Stored, draft: Draft) -> Stored:
        """Replace an object; the same content is not written again."""
        change = Change.update(self.shard, old, draft)
        return change.unchanged or self.log.commit(change)

    def delete(self, old: Stored) -> Stored:
        """Take an object out."""
        return self.log.commit(Change.delete(self.shard, old))
