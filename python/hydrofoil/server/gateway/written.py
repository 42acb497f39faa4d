"""Who has written what: the next read of a writer is not answered from a view without the write."""

from __future__ import annotations

MOST = 8192
"""The greatest number of writers and resources; the one that wrote longest ago is forgotten first."""
Key = tuple[bytes, str, str]


class Written:
    """The writes that passed through, by caller, group and resource, until the view is known to have them."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        self._count = 0

    def add(self, caller: bytes, group: str, resource: str) -> None:
        """Record a write that the upstream has acknowledged."""
        key = caller, group, resource
        self._numbers.pop(key, None)
        while len(self._numbers) >= MOST:
            del self._numbers[next(iter(self._numbers))]
        self._count += 1
        self._numbers[key] = self._count

    def find(self, caller: bytes, group: str, resource: str) -> int:
        """Return the number of the last write that the view may lack; 0 if there is none."""
        return self._numbers.get((caller, group, resource), 0)

    def settle(self, caller: bytes, group: str, resource: str, number: int) -> None:
        """Record that the view has all writes up to a number."""
        key = caller, group, resource
        if self._numbers.get(key) == number:
            del self._numbers[key]
