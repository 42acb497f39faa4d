"""The log of servers in a test's process: none of it reaches the handlers of the root logger, nor a standard stream.

A test that wants the log adds a handler to the logger `hydrofoil`.
"""

from __future__ import annotations

import logging
import threading

LOG = logging.getLogger("hydrofoil")


class OwnHandlers(logging.Filter):
    """Give records to the handlers of the logger itself, and to no others.

    A logger that does not propagate would do the same, were it not that pytest adds its own handlers to each one that
    it finds at the beginning of a test, beside which a server of the session runs.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Handle a record here."""
        for handler in LOG.handlers:
            if record.levelno >= handler.level:
                handler.handle(record)
        return False


OWN_HANDLERS = OwnHandlers()


class Silence:
    """The servers of this process that are silent; with the last one, the log is as before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        """The count and what it does to the log change together: servers start and stop in threads of their own."""
        self._count = 0

    def begin(self) -> None:
        """Begin, for one server more."""
        with self._lock:
            self._count += 1
            LOG.addFilter(OWN_HANDLERS)

    def end(self) -> None:
        """End, for one server."""
        with self._lock:
            self._count -= 1
            if not self._count:
                LOG.removeFilter(OWN_HANDLERS)


SILENCE = Silence()
"""A server in the caller's loop, in a thread and in a process."""
