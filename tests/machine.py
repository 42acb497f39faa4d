"""How fast the machine is at the moment: bounds of time are those of a quiet one, and a slower one has as much more."""

from __future__ import annotations

import json
import time
from statistics import median

QUIET = 0.00028
"""Seconds of processor time that the yardstick takes on the quiet machine for which bounds are written."""
ITEMS = [{"metadata": {"name": f"n{i}", "labels": {"l": str(i)}}, "data": {"k": "v" * 50}} for i in range(100)]


def yardstick() -> float:
    """Seconds of processor time that this thread takes for a fixed piece of work in the standard library."""
    begun = time.thread_time()
    found = json.loads(json.dumps(ITEMS))
    sorted(item["metadata"]["name"] for item in found)
    return time.thread_time() - begun


def slowness(tries: int = 9) -> float:
    """Return how many times slower than the quiet machine this one is now; at least 1.

    A machine that is shared is slower for minutes: its clock, its caches and the other half of its cores are not its
    own, which a thread's processor time shows as if it were the thread's work. The median of some tries has as much of
    that as longer work has, and no single disturbance.
    """
    return max(1.0, median(yardstick() for _ in range(tries)) / QUIET)
