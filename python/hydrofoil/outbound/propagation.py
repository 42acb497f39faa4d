"""Headers that calls to other servers carry on behalf of a request: its trace."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

Inject = Callable[[dict[str, str]], None]

propagation: ContextVar[Inject | None] = ContextVar("propagation", default=None)
"""Add the headers of the present request; None where requests are not traced."""
