"""Log lines on what fails again and again: a full disk, descriptors that are used up, readers that are too slow."""

from __future__ import annotations

import logging
from collections.abc import Callable

from hydrofoil.clock import stopwatch

LOG = logging.getLogger("hydrofoil")
EVERY = 10.0
"""Seconds between two lines on the same subject."""


class Complaint:
    """A line that is written at once, and then once in some seconds with the number of those that were left out."""

    def __init__(self, line: str, seconds: Callable[[], float] = stopwatch) -> None:
        """Take the line, with a place for what is wrong."""
        self._line = line
        self._seconds = seconds
        self._due = float("-inf")
        self._unsaid = 0

    def say(self, what: str) -> None:
        """Write the line, unless it was written a short time ago."""
        now = self._seconds()
        if now < self._due:
            self._unsaid += 1
            return
        more = f" ({self._unsaid} more since the last such line)" if self._unsaid else ""
        self._due, self._unsaid = now + EVERY, 0
        LOG.warning("%s%s", self._line.format(what), more)
