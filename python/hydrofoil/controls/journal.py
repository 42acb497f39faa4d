"""The requests that a server has answered, and the watches that are open."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from hydrofoil.controls.record import Record
from hydrofoil.controls.watching import OpenWatch

MOST = 10_000
"""The number of records that are kept."""


class Page(NamedTuple):
    """The records that are new or have changed since a state of the journal."""

    generation: int
    """The number of times that the journal was emptied."""
    stamp: int
    first: int
    """The number of the oldest record that is kept."""
    dropped: int
    records: list[Record]


class Journal:
    """Records in the order of their requests."""

    def __init__(self) -> None:
        self.records: deque[Record] = deque(maxlen=MOST)
        self.dropped = 0
        """The number of older records that are not kept."""
        self.open: dict[OpenWatch, None] = {}
        """The open watches, in the order of their starts."""
        self._generation = self._stamp = self._number = 0

    def add(self, record: Record) -> None:
        """Add a record at its end, or at the head of a watch."""
        if len(self.records) == MOST:
            self.dropped += 1
        self._number += 1
        record.number = self._number
        self.records.append(record)
        self.changed(record)

    def changed(self, record: Record) -> None:
        """Note that a record has changed."""
        self._stamp += 1
        record.stamp = self._stamp

    def clear(self) -> None:
        """Forget all records; open watches stay known."""
        self.records.clear()
        self.dropped = 0
        self._generation += 1

    def page(self, generation: int, stamp: int) -> Page:
        """Return what is new since a state; everything if the journal was emptied since."""
        if generation != self._generation:
            stamp = 0
        new = [record for record in self.records if record.stamp > stamp]
        first = self.records[0].number if self.records else self._number + 1
        return Page(self._generation, self._stamp, first, self.dropped, new)
