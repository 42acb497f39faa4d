"""The order of tests: those that mostly wait lie between the others, so that no core is idle at the end of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TypeVar

T = TypeVar("T")
END = 0.8
"""The share of a run by which the last of them has begun: the others fill what is left."""


def spread(items: Iterable[T], module: Callable[[T], str], waits: Callable[[str], bool]) -> list[T]:
    """Return items with those of modules that wait between the modules of the others, evenly.

    Only between modules: what a module shares would end, and begin anew, where another one comes in between.
    """
    given = list(items)
    waiting = [item for item in given if waits(module(item))]
    groups = [list(group) for _, group in groupby((i for i in given if not waits(module(i))), module)]
    return list(_merge(groups, waiting, END * sum(map(len, groups))))


def _merge(groups: Sequence[list[T]], waiting: Sequence[T], end: float) -> Iterable[T]:
    place = placed = 0
    for group in groups:
        while placed < len(waiting) and place * len(waiting) >= placed * end:
            yield waiting[placed]
            placed += 1
        yield from group
        place += len(group)
    yield from waiting[placed:]
