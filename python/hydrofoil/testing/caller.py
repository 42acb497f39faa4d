"""The way from a test to the core of its server: on the same loop, in another thread or in another process."""

from __future__ import annotations

from typing import Any, Protocol


class Caller(Protocol):
    """Calls of a `testing.core.Core`, by the names of its methods."""

    def call(self, name: str, *given: Any) -> Any:
        """Return the result of a plain call. Raise its error."""

    def settled(self, name: str, *given: Any) -> Any:
        """Return the result of a plain call, once controllers have done their work on it, if that can be waited for."""

    def post(self, name: str, *given: Any) -> None:
        """Make a plain call without waiting for it; a server that has stopped ignores it."""
