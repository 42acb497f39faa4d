"""The controls of one server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from hydrofoil.clock import Chance, Clock
from hydrofoil.controls.faults import Faults
from hydrofoil.controls.journal import Journal
from hydrofoil.engine import Checkpoint
from hydrofoil.storage.storage import Storage


class Controls:
    """Faults, journal, time and states of a server; everything runs on its loop."""

    def __init__(self, clock: Clock, chance: Chance, begin: datetime | None = None) -> None:
        """`begin` is the moment at which the clock stands still from the start."""
        self.clock = clock
        self.chance = chance
        self.journal = Journal()
        self.faults = Faults(self.journal)
        self._begin = begin
        self._storage: Storage | None = None
        self._first: Checkpoint | None = None
        self._followed: Callable[[], None] = lambda: None
        self._settle: Callable[[], Awaitable[None]] | None = None
        if begin is not None:
            clock.freeze(begin)

    @property
    def storage(self) -> Storage:
        """Return the storage of the server, which has started."""
        if self._storage is None:
            raise RuntimeError("the server has not started")
        return self._storage

    @property
    def seeded(self) -> bool:
        """Report whether a run repeats: the same requests in the same order get the same bodies."""
        return self.chance.seeded

    async def settle(self) -> None:
        """Wait until the controllers are idle, once the server has started."""
        if self._settle is not None:
            await self._settle()

    def ready(self, storage: Storage, followed: Callable[[], None], settle: Callable[[], Awaitable[None]]) -> None:
        """Take the state at readiness; `followed` brings what follows objects up to a restored state."""
        self._storage, self._followed, self._settle = storage, followed, settle
        self._first = storage.checkpoint()
        self.chance.restart()
        self.journal.clear()

    @property
    def first(self) -> Checkpoint:
        """Return the state at readiness."""
        assert self._first is not None, "the server has started"
        return self._first

    def snapshot(self) -> Checkpoint:
        """Return the present state."""
        return self.storage.checkpoint()

    def restore(self, state: Checkpoint) -> int:
        """Return to a state of this server: watches see the differences as events. Return their number."""
        changed = self.storage.restore(state)
        self._followed()
        return changed

    def reset(self) -> int:
        """Return to the state at readiness, without faults and records, at the time and the seed of the start."""
        self.faults.clear()
        changed = self.restore(self.first)
        self.begin()
        return changed

    def begin(self) -> None:
        """Return to the time and the seed of the start, and forget all requests."""
        if self._begin is None:
            self.clock.reset()
        else:
            self.clock.freeze(self._begin)
        self.chance.restart()
        self.journal.clear()
