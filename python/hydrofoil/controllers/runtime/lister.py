"""The objects of a resource as values with the fields that controllers read (client-go's generated listers)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from msgspec.json import Decoder

from hydrofoil.controllers.runtime.index import Key
from hydrofoil.engine import Stored


class HasVersion(Protocol):
    """The metadata of an object, as far as a lister reads it."""

    @property
    def namespace(self) -> str:
        """Return the namespace of the object."""

    @property
    def name(self) -> str:
        """Return the name of the object."""

    @property
    def resource_version(self) -> str:
        """Return the version of the object."""


class Value(Protocol):
    """An object as a value.

    A type may have two static methods: `reader` returns what decodes its objects in place of msgspec, and `aspects`
    what a change from one value to another is about, as a set of bits. Most handlers of pods look at few of these.
    """

    @property
    def metadata(self) -> HasVersion:
        """Return the metadata."""


T = TypeVar("T", bound=Value)
Reader = Callable[[bytes, T | None], T]
"""Return the value of an object from its JSON; it may share what is equal with the one before."""
Change = Callable[[T | None, T | None], None]
"""Take the values of an object before and after a change: None before it exists, and after it has gone."""
ALL = -1
"""All aspects of a change: those of a type without a function `aspects`."""
Keys = Callable[[T], Iterable[str]]
"""Return what an object is found by. A function of the object alone: it is asked again to remove it."""


class ValueIndex(Generic[T]):
    """The values of a lister by what a function says of them: owners, nodes, labels."""

    def __init__(self, keys: Keys[T], values: dict[Key, T]) -> None:
        self._keys = keys
        self._values = values
        self._found: dict[str, dict[Key, None]] = {}

    def get(self, key: str) -> list[T]:
        """Return the objects with a key, in the order in which they came to have it."""
        return [self._values[place] for place in self._found.get(key, ())]

    def places(self, key: str) -> list[Key]:
        """Return namespace and name of each object with a key: of many, they are read in pieces."""
        return [*self._found.get(key, ())]

    def count(self, key: str) -> int:
        """Return the number of objects with a key."""
        return len(self._found.get(key, ()))

    def apply(self, place: Key, old: T | None, new: T | None) -> None:
        """Apply a change of the object at a place."""
        before = () if old is None else tuple(self._keys(old))
        after = () if new is None else tuple(self._keys(new))
        if before == after:
            return
        for key in before:
            if key not in after and (found := self._found.get(key)) is not None:
                found.pop(place, None)
                if not found:
                    del self._found[key]
        for key in after:
            self._found.setdefault(key, {})[place] = None


class Lister(Generic[T]):
    """The objects of an informer, decoded once a change for all controllers that read the same fields.

    It is a handler of its informer, added before those that ask it: a handler finds the object of its change here, in
    every index.
    """

    def __init__(self, kind: type[T]) -> None:
        make: Callable[[], Reader[T]] | None = getattr(kind, "reader", None)
        decode = Decoder(kind).decode
        self._read: Reader[T] = (lambda text, _: decode(text)) if make is None else make()
        self._aspects_of: Callable[[T | None, T | None], int] | None = getattr(kind, "aspects", None)
        self._aspects = ALL
        """What the latest change is about."""
        self.values: dict[Key, T] = {}
        """The values by namespace and name."""
        self._old: Stored | None = None
        self._new: Stored | None = None
        """The latest change, for the handlers that are called with it next."""
        self._pair: tuple[T | None, T | None] = (None, None)
        """Its values."""
        self._indices: dict[Keys[T], ValueIndex[T]] = {}

    def __iter__(self) -> Iterator[T]:
        return iter(self.values.values())

    def __len__(self) -> int:
        return len(self.values)

    def get(self, namespace: str, name: str) -> T | None:
        """Return an object, as far as its events have been delivered."""
        return self.values.get((namespace, name))

    def index(self, keys: Keys[T]) -> ValueIndex[T]:
        """Return the index of a function; controllers that ask for the same function share it."""
        found = self._indices.get(keys)
        if found is None:
            found = self._indices[keys] = ValueIndex(keys, self.values)
            for place, value in self.values.items():
                found.apply(place, None, value)
        return found

    def value(self, stored: Stored) -> T:
        """Return the value of an object: the present one, the one before it, or one that a late handler asks for."""
        present = self.values.get((stored.namespace, stored.name))
        if present is not None and present.metadata.resource_version == str(stored.revision):
            return present
        if self._old is stored and (before := self._pair[0]) is not None:
            return before
        return self._read(stored.json, present)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change of one object."""
        either = old if new is None else new
        assert either is not None
        place = either.namespace, either.name
        before = None if old is None else self.values.get(place)
        if new is None:
            after = None
            self.values.pop(place, None)
        else:
            after = self._read(new.json, before)
            # The texts of the value are those of all keys: a pod has a key in several places.
            place = after.metadata.namespace, after.metadata.name
            self.values[place] = after
        # Without a value of the version before, a handler decodes it: it may be another object of the name.
        self._old, self._new = (old, new) if (old is None) == (before is None) else (None, None)
        self._pair = before, after
        if self._aspects_of is not None:
            self._aspects = self._aspects_of(before, after)
        for index in self._indices.values():
            index.apply(place, before, after)

    def handler(self, change: Change[T], aspects: int = ALL) -> Callable[[Stored | None, Stored | None], None]:
        """Return a handler of the informer that gives values to a function, if the change is about one of the aspects.

        A handler that looks at nothing else does nothing then; so what it has missed is given to it whatever that is.
        """

        def call(old: Stored | None, new: Stored | None) -> None:
            # All handlers of one change are called in a row: its values are at hand.
            if old is self._old and new is self._new:
                if aspects & self._aspects:
                    change(*self._pair)
            else:
                change(None if old is None else self.value(old), None if new is None else self.value(new))

        return call
