"""Values that many objects have: they exist once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
MOST = 1024
"""The number of values that a memo keeps: where nearly none comes again, it is to cost little."""


class Memo(Generic[K, V]):
    """The values of a function that are kept by its argument. Nobody changes them.

    >>> memo = Memo(lambda text: [text])
    >>> memo("a") is memo("a")
    True
    """

    __slots__ = ("_all", "_make", "_most")

    def __init__(self, make: Callable[[K], V], most: int = MOST) -> None:
        self._make = make
        self._most = most
        self._all: dict[K, V] = {}

    def __call__(self, key: K) -> V:
        """Return the value of a key."""
        found = self._all.get(key)
        if found is None:
            if len(self._all) >= self._most:
                # The objects have their values; only later ones have others.
                self._all.clear()
            found = self._all[key] = self._make(key)
        return found
