"""Objects by a value of theirs (client-go `tools/cache/thread_safe_store.go`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from hydrofoil.engine import Stored

Key = tuple[str, str]
"""Namespace and name."""
Values = Callable[[Stored], Iterable[str]]
"""Return the values under which an object is found. A function of the object alone: it is asked again to remove it."""


def key_of(stored: Stored) -> Key:
    """Return the key of an object."""
    return stored.namespace, stored.name


class Objects:
    """The present objects of a resource by namespace and name: handles, whose content is that of the storage's view."""

    def __init__(self) -> None:
        self._all: dict[str, dict[str, Stored]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._all.values()))

    def __iter__(self) -> Iterator[Stored]:
        return chain.from_iterable(within.values() for within in self._all.values())

    def get(self, namespace: str, name: str) -> Stored | None:
        """Return an object, as far as its events have been delivered."""
        return self._all.get(namespace, {}).get(name)

    def within(self, namespace: str) -> Iterable[Stored]:
        """Return the objects of a namespace."""
        return self._all.get(namespace, {}).values()

    def keys(self) -> list[Key]:
        """Return the keys of all objects."""
        return [(namespace, name) for namespace, within in self._all.items() for name in within]

    def put(self, key: Key, stored: Stored) -> Stored | None:
        """Keep an object; return its version so far."""
        within = self._all.setdefault(key[0], {})
        old = within.get(key[1])
        within[key[1]] = stored
        return old

    def pop(self, key: Key) -> Stored | None:
        """Remove an object; return its last version."""
        within = self._all.get(key[0])
        if within is None:
            return None
        old = within.pop(key[1], None)
        if not within:
            del self._all[key[0]]
        return old


class Index:
    """The objects of a resource by values of theirs: owners, nodes, labels."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._found: dict[str, dict[Key, Stored]] = {}

    def get(self, value: str) -> Iterable[Stored]:
        """Return the objects with a value, in the order in which they came to have it."""
        return self._found.get(value, {}).values()

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change of one object."""
        before = () if old is None else tuple(self._values(old))
        after = () if new is None else tuple(self._values(new))
        if not before and not after:
            return
        key = key_of(new or old)  # type: ignore[arg-type] # one of them is an object
        for value in before:
            if value not in after and (found := self._found.get(value)) is not None:
                found.pop(key, None)
                if not found:
                    del self._found[value]
        for value in after:
            assert new is not None
            self._found.setdefault(value, {})[key] = new
