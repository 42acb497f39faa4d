"""The versions of objects that a controller has written, until its informer shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hydrofoil.controllers.adoption import Owned
from hydrofoil.watch.queue import Key

DELETED = -1
"""In place of the revision of an object that was deleted, or whose deletion has begun."""


class Observation(NamedTuple):
    """What a version of an object means for its key."""

    is_foreign: bool
    """Somebody else made it."""
    is_awaited: bool
    """A look at the key waited for it."""


def revision_of(value: Owned | None) -> int:
    """Return the revision of an object; DELETED for one that is gone or going."""
    return DELETED if value is None or value.metadata.is_deleting else int(value.metadata.resource_version)


def version_of(value: Owned | None) -> int:
    """Return the revision of an object, also of one that is going; DELETED for one that is gone."""
    return DELETED if value is None else int(value.metadata.resource_version)


class WrittenVersions:
    """The objects of each key that were written and not observed yet (upstream's `EndpointSliceTracker`).

    A controller that looks at its informer before it shows its own last write would write the same once more. It asks
    `is_stale` first and leaves the key: `observe` tells it when to look again. Revisions of a store only grow, so a
    later one shows that the write has been observed.

    >>> versions = WrittenVersions()
    >>> versions.note(("a", "web"), "web-x", 7, shown=5)
    >>> versions.is_stale(("a", "web"))
    True
    >>> versions.observe(("a", "web"), "web-x", 7)
    Observation(is_foreign=False, is_awaited=True)
    >>> versions.is_stale(("a", "web"))
    False
    >>> versions.observe(("a", "web"), "web-x", 8)
    Observation(is_foreign=True, is_awaited=False)
    """

    def __init__(self, epoch: Callable[[], int] = lambda: 0) -> None:
        """Take what returns the number of restores: what was written before one is never observed."""
        self._epoch = epoch
        self._noted = epoch()
        self._written: dict[Key, dict[str, int]] = {}
        """The revisions by key and name."""
        self._waiting: set[Key] = set()

    def note(self, key: Key, name: str, revision: int, shown: int) -> None:
        """Note a write, or DELETED for a deletion; `shown` is the version that the informer shows now.

        That may be the written one already: its event was delivered while the write was awaited.
        """
        if shown != revision and (revision == DELETED or shown < revision):
            self._written.setdefault(key, {})[name] = revision

    def is_stale(self, key: Key) -> bool:
        """Report whether a write of a key is not observed yet; then the last one of its observations is awaited."""
        if self._noted != self._epoch():
            self._noted = self._epoch()
            self._written.clear()
            self._waiting.clear()
        if key in self._written:
            self._waiting.add(key)
            return True
        return False

    def observe(self, key: Key, name: str, revision: int) -> Observation:
        """Observe a version of an object, or DELETED."""
        written = self._written.get(key, {})
        expected = written.get(name)
        if expected is None:
            return Observation(is_foreign=True, is_awaited=False)
        if revision != DELETED and (expected == DELETED or revision < expected):
            # A version before the last write.
            return Observation(is_foreign=False, is_awaited=False)
        del written[name]
        is_awaited = False
        if not written:
            del self._written[key]
            is_awaited = key in self._waiting
            self._waiting.discard(key)
        return Observation(revision != expected, is_awaited)

    def forget(self, key: Key) -> None:
        """Forget what was written of a key."""
        self._written.pop(key, None)
        self._waiting.discard(key)
