"""Clocks of certificates."""

from __future__ import annotations

from hydrofoil.clock import Clock
from tests.unit.authentication.requests import NOW


class Fixed(Clock):
    """A clock that stands still."""

    def seconds(self) -> float:
        return NOW.timestamp()
