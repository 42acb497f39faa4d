"""Sets of completion indexes as ordered intervals (`pkg/controller/job/indexed_job_utils.go`, orderedIntervals)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

Interval = tuple[int, int]
"""The first and the last index."""


class Intervals:
    """Indexes, of which a job may have 100,000: as intervals, nearly all of them are one.

    >>> indexes = Intervals.parse("1,3-5,6", 10)
    >>> str(indexes), indexes.total, 4 in indexes, 2 in indexes
    ('1,3-6', 5, True, False)
    >>> str(indexes.merge(Intervals.of([2, 8])))
    '1-6,8'
    """

    __slots__ = ("_all",)

    def __init__(self, intervals: Iterable[Interval] = ()) -> None:
        """Take intervals in order, without overlaps."""
        self._all = [*intervals]

    @classmethod
    def of(cls, indexes: Iterable[int]) -> Intervals:
        """Return the set of some indexes, in any order."""
        return cls._joined((index, index) for index in sorted(set(indexes)))

    @classmethod
    def _joined(cls, intervals: Iterable[Interval]) -> Intervals:
        """Return intervals in the order of their beginnings as such that neither overlap nor touch."""
        found: list[Interval] = []
        for first, last in intervals:
            if not found or first > found[-1][1] + 1:
                found.append((first, last))
            elif found[-1][1] < last:
                found[-1] = found[-1][0], last
        return cls(found)

    @classmethod
    def parse(cls, text: str, completions: int) -> Intervals:
        """Return the indexes of a text that are below the number of completions; what is no interval is left out."""
        found: list[Interval] = []
        for part in text.split(",") if text else ():
            try:
                first, last = (int(limit) for limit in (part.split("-") * 2)[:2])
            except ValueError:
                continue
            if first >= completions:
                break
            last = min(last, completions - 1)
            if found and found[-1][1] == first - 1:
                found[-1] = found[-1][0], last
            else:
                found.append((first, last))
        return cls(found)

    def __iter__(self) -> Iterator[Interval]:
        return iter(self._all)

    def __bool__(self) -> bool:
        return bool(self._all)

    def __contains__(self, index: int) -> bool:
        place = bisect_left(self._all, index, key=lambda interval: interval[1])
        return place < len(self._all) and self._all[place][0] <= index

    def __str__(self) -> str:
        return ",".join(
            str(first) if first == last else f"{first}{',' if last == first + 1 else '-'}{last}"
            for first, last in self._all
        )

    @property
    def total(self) -> int:
        """Return the number of indexes."""
        return sum(last - first + 1 for first, last in self._all)

    def merge(self, other: Intervals) -> Intervals:
        """Return the indexes that are in one of both."""
        return self._joined(sorted((*self._all, *other._all)))

    def overlap(self, other: Intervals) -> int:
        """Return the number of indexes that are in both."""
        return self.total + other.total - self.merge(other).total

    def gaps(self, count: int, end: int) -> list[int]:
        """Return the first indexes below an end that are missing, as many as are asked for."""
        found: list[int] = []
        candidate = 0
        for first, last in (*self._all, (end, end)):
            # Bounded by the number of intervals and of indexes that are asked for.
            found += range(candidate, min(first, end, candidate + count - len(found)))
            candidate = max(candidate, last + 1)
        return found
