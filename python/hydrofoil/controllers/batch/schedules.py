"""Schedules and time zones, read once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from hydrofoil.controllers.batch.cron_schedule import load_zone, parse_schedule
from hydrofoil.pool import run

T = TypeVar("T")
MOST = 4096
"""The most texts that are known; then all are forgotten."""


class ReadTexts(Generic[T]):
    """What texts mean, or the errors in them. Time zones are files, which a thread reads."""

    def __init__(self, read: Callable[[str], T]) -> None:
        self._read = read
        self._known: dict[str, T | ValueError] = {}

    async def get(self, text: str) -> T:
        """Return what a text means. Raise ValueError."""
        found = self._known.get(text)
        if found is None:
            try:
                found = await run(self._read, text, pooled=True)
            except ValueError as e:
                found = e
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[text] = found
        if isinstance(found, ValueError):
            raise found
        return found


class Schedules:
    """The schedules and zones of a controller."""

    def __init__(self) -> None:
        self.schedules = ReadTexts(parse_schedule)
        self.zones = ReadTexts(load_zone)
