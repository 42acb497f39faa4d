"""A priority level at work."""

from __future__ import annotations

from hydrofoil import engine
from hydrofoil.fairness.limits import LevelConfig, Seats, most_of
from hydrofoil.fairness.retry_after import RetryAfter


class Level:
    """A level with its queues; it lasts until its last request after its object is deleted."""

    def __init__(self, config: LevelConfig, turns: engine.LoopTurns) -> None:
        self.config = config
        self.queues = engine.Queues(turns, exempt=config.exempt)
        self.exempt = config.exempt
        """Whether the level has no limit."""
        self.seats = Seats(0, 0, 0)
        self.current = 0
        """The seats at present: its own, less those lent, plus those borrowed."""
        self.most = 0
        """The seats that one request may take; 0 means no limit of the level."""
        self.target = 0.0
        self.leaving = False
        """Whether its object is deleted, while requests remain."""
        self.retry_after = RetryAfter()
        self._new = True

    def configure(self, config: LevelConfig, seats: Seats) -> None:
        """Take a changed configuration."""
        self.config, self.seats = config, seats
        self.most = most_of(config, seats.nominal)
        if self._new:
            self._new = False
            self.limit(seats.first)
        else:
            self.limit(self.current)

    def limit(self, current: int) -> None:
        """Change the seats at present."""
        self.current = current
        self.queues.configure(self.seats.nominal, current, self.config.queues, self.config.length)

    @property
    def idle(self) -> bool:
        """Report whether no request is waiting or running."""
        return not self.queues.waiting and not self.queues.executing

    @property
    def wanted(self) -> int:
        """Return the seats that the level keeps: those it used lately, within those that are its own."""
        high = self.queues.high
        if self.config.exempt:
            return max(self.seats.least, high)
        return max(self.seats.least, min(self.seats.nominal, high))
