"""Durations of a test's calls."""

from __future__ import annotations

from datetime import timedelta

from hydrofoil import engine

Duration = str | int | float | timedelta


def nanoseconds(duration: Duration) -> int:
    """Return a duration such as `"25h"`, seconds or a timedelta in nanoseconds. Raise ValueError if it is negative."""
    if isinstance(duration, timedelta):
        found = duration // timedelta(microseconds=1) * 1000
    elif isinstance(duration, str):
        seconds = engine.duration(duration)
        if seconds is None:
            raise ValueError(f"{duration!r} is no duration, such as 25h or 1m30s")
        found = round(seconds * 1e9)
    else:
        found = round(duration * 1e9)
    if found < 0:
        raise ValueError(f"a clock goes forward, not by {duration!r}")
    return found
