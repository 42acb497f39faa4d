"""The flag of worker processes."""

from __future__ import annotations

import os

from hydrofoil.go_text import quote
from hydrofoil.options import Options, Refused, flag, integer

AUTO = 0
"""One worker a core."""
MOST = 63
"""A bit of a word for each, and one for the owner."""


def workers(text: str) -> int:
    """Read a number of workers, or `auto`."""
    if text == "auto":
        return AUTO
    try:
        number = integer(text)
    except ValueError:
        number = 0
    if not 1 <= number <= MOST:
        raise Refused(f"<flag> must be auto, or a number from 1 to {MOST}, not {quote(text)}")
    return number


class WorkerOptions(Options):
    """The processes of one server."""

    workers: int = flag(
        "--workers",
        1,
        workers,
        "processes that answer requests, over one store and on one port; auto: one a core; 1: this process does it all "
        "(default 1)",
        value="N|auto",
    )

    @property
    def worker_count(self) -> int:
        """Return the number of workers; 1: the process that was started answers by itself."""
        return self.workers or min(os.cpu_count() or 1, MOST)
