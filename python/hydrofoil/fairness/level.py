"""A priority level at work."""

from __future__ import annotations

from hydrofoil import engine
from hydrofoil.fairness.limits import LevelConfig, Seats, max_seats_per_request

MOST_SECONDS = 32
"""The longest time that a client is asked to wait, in seconds."""


class RetryAfter:
    """The seconds after which clients of a priority level should try again: the more, the more are refused."""

    def __init__(self) -> None:
        self.seconds = 1
        self._history: list[tuple[int, int]] = []
        self._second = 0
        self._count = 0
        self._updated = 0

    def refused(self, now: int) -> int:
        """Count a refusal in a second since 1970, and return the seconds to wait."""
        if self._second == now:
            self._count += 1
            return self.seconds
        self._history.append((self._second, self._count))
        limit = min(2 * self.seconds, MOST_SECONDS)
        self._history = [(at, n) for at, n in self._history if self._second - at <= limit]
        self._second, self._count = now, 1
        self._update(now)
        return self.seconds

    def _update(self, now: int) -> None:
        wait = self.seconds
        dropped = sum(n for at, n in self._history if at < now and now - at <= wait)
        if now - self._updated >= wait and dropped >= 3 * wait:
            self.seconds, self._updated = min(2 * wait, MOST_SECONDS), now
        elif dropped < wait and wait > 1:
            self.seconds = wait - 1


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
        self.most = max_seats_per_request(config, seats.nominal)
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
