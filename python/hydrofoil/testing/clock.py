"""The clock of a server in the hands of a test."""

from __future__ import annotations

from datetime import datetime
from types import TracebackType

from hydrofoil.controls.moments import Duration, moment, nanoseconds
from hydrofoil.testing.caller import Caller


class Frozen:
    """The block of a frozen clock, which runs again after it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __enter__(self) -> Clock:
        return self._clock

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clock.run()


class Clock:
    """The time that the server's own times follow; only `freeze(at)` and `reset()` set it back."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    @property
    def now(self) -> datetime:
        """Return the time of the server, in UTC."""
        found: datetime = self._caller.call("now")
        return found

    def freeze(self, at: datetime | str | None = None) -> Frozen:
        """Stop the clock, at a moment or now; as a context, until the end of the block.

        Raise TypeError and ValueError.
        """
        self._caller.settled("freeze", None if at is None else moment(at))
        return Frozen(self)

    def advance(self, duration: Duration) -> None:
        """Move the clock forward; requests that follow see all of it.

        Raise TypeError, and ValueError for a negative duration.
        """
        self._caller.settled("advance", nanoseconds(duration))

    def run(self) -> None:
        """Run the clock from its present time."""
        self._caller.settled("run")
