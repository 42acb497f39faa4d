"""Times in objects."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(4096)
def parse_time(text: str) -> float:
    """Return a time of an object (RFC 3339, with or without parts of a second) in seconds since 1970."""
    return datetime.fromisoformat(text).timestamp()


def format_time(seconds: float) -> str:
    """Return a time as objects have it, without parts of a second (`metav1.Time`)."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_micro_time(seconds: float) -> str:
    """Return a time with microseconds (`metav1.MicroTime`)."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
