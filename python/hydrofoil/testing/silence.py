"""The log of servers in a test's process: none of it reaches the handlers of the root logger, nor a standard stream.

A test that wants the log adds a handler to the logger `hydrofoil`.
"""

from __future__ import annotations

import logging
import threading

LOG = logging.getLogger("hydrofoil")
NOWHERE = logging.NullHandler()


class Silence:
    """The servers of this process that are silent; with the last one, the log is as before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        """The count and what it does to the log change together: servers start and stop in threads of their own."""
        self._count = 0
        self._before = True

    def begin(self) -> None:
        """Begin, for one server more."""
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._before, LOG.propagate = LOG.propagate, False
                # Without any handler, warnings would go to the standard error.
                LOG.addHandler(NOWHERE)

    def end(self) -> None:
        """End, for one server."""
        with self._lock:
            self._count -= 1
            if not self._count:
                LOG.propagate = self._before
                LOG.removeHandler(NOWHERE)


SILENCE = Silence()
