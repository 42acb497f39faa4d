"""Moments and durations as tests give them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from hydrofoil import engine

Duration = str | int | float | timedelta
FIRST, LAST = datetime(1678, 1, 1, tzinfo=UTC), datetime(2262, 1, 1, tzinfo=UTC)
"""The moments that nanoseconds in 64 bits reach."""
LONGEST = 100 * 365 * 86_400
"""The longest step of a clock, in seconds."""


def moment(given: Any) -> datetime:
    """Return the moment of a text in RFC 3339 or of an aware datetime, in UTC. Raise TypeError and ValueError."""
    if isinstance(given, str):
        try:
            found = datetime.fromisoformat(given)
        except ValueError:
            raise ValueError(f"{given!r} is no moment, such as 2026-01-01T00:00:00Z") from None
    elif isinstance(given, datetime):
        found = given
    else:
        raise TypeError(f"{given!r} is no moment, such as 2026-01-01T00:00:00Z")
    if found.tzinfo is None:
        raise ValueError(f"{given!r} has no zone; 2026-01-01T00:00:00Z has")
    if not FIRST <= found <= LAST:
        raise ValueError(f"{given!r} is not between the years {FIRST.year} and {LAST.year}")
    return found.astimezone(UTC)


def _read_duration(text: str) -> float | None:
    """Return a Go duration, with days before it or alone, in seconds; None for anything else."""
    days = re.match(r"(\d+)d", text)
    if days is None:
        return engine.duration(text)
    rest = text[days.end() :]
    found = engine.duration(rest) if rest else 0.0
    return None if found is None or found < 0 else int(days[1]) * 86_400 + found


def nanoseconds(duration: Duration) -> int:
    """Return a duration such as `"25h"`, seconds or a timedelta in nanoseconds.

    Raise TypeError, and ValueError if it is negative or longer than a century.
    """
    seconds: float | None
    if isinstance(duration, timedelta):
        seconds = duration.total_seconds()
    elif isinstance(duration, str):
        seconds = _read_duration(duration)
    elif isinstance(duration, int | float) and not isinstance(duration, bool):
        seconds = duration
    else:
        raise TypeError(f"{duration!r} is no duration, such as 7d, 25h or 1m30s")
    if seconds is None:
        raise ValueError(f"{duration!r} is no duration, such as 7d, 25h or 1m30s")
    if seconds < 0:
        raise ValueError(f"a clock goes forward, not by {duration!r}")
    if not seconds <= LONGEST:
        raise ValueError(f"{duration!r} is longer than a century")
    return round(seconds * 1e9)
