"""What a controller expects to see before it acts again (`pkg/controller/controller_utils.go`, ControllerExpectations).

A controller that creates replicas sees them only after a while. Until then its informer shows too few of them, and it
would create them once more. So it notes how many creations and deletions it has asked for, counts those that it
observes, and looks at its object again only when all are observed, or after `TIMEOUT`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from hydrofoil.clock import Clock

TIMEOUT = 300.0
"""The seconds after which expectations are given up (`ExpectationsTimeout`): an event may never come."""


class Expected(Struct):
    """The creations and deletions that are not observed yet. More may be observed than were expected."""

    since: float
    """When they were set, in seconds of the server's clock."""
    creations: int = 0
    deletions: int = 0

    @property
    def is_fulfilled(self) -> bool:
        """Report whether all are observed."""
        return self.creations <= 0 and self.deletions <= 0


class Expectations:
    """The expectations of one controller by the key of its object.

    The order of calls matters. They are set *before* the writes, since a write is observed as soon as it is committed,
    and lowered for each write that failed, which nobody will observe:

    >>> expectations = Expectations(Clock())
    >>> expectations.expect_creations("a/web", 2)
    >>> expectations.creation_observed("a/web")
    >>> expectations.is_satisfied("a/web")
    False
    >>> expectations.creation_observed("a/web")
    >>> expectations.is_satisfied("a/web")
    True
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._all: dict[str, Expected] = {}

    def get(self, key: str) -> Expected | None:
        """Return the expectations of an object."""
        return self._all.get(key)

    def is_satisfied(self, key: str) -> bool:
        """Report whether the controller may act on an object (`SatisfiedExpectations`).

        Also without expectations, as after a start, and when they are too old: then what was observed is all there is.
        """
        expected = self._all.get(key)
        if expected is None or expected.is_fulfilled:
            return True
        return self._clock.seconds() - expected.since > TIMEOUT

    def expect(self, key: str, creations: int, deletions: int) -> None:
        """Expect some from now on, in place of earlier ones (`SetExpectations`)."""
        self._all[key] = Expected(self._clock.seconds(), creations, deletions)

    def expect_creations(self, key: str, count: int) -> None:
        """Expect creations from now on, in place of earlier expectations."""
        self.expect(key, count, 0)

    def expect_deletions(self, key: str, count: int) -> None:
        """Expect deletions from now on, in place of earlier expectations."""
        self.expect(key, 0, count)

    def creation_observed(self, key: str) -> None:
        """Count a creation that was observed, or that failed."""
        self.lower(key, creations=1)

    def deletion_observed(self, key: str) -> None:
        """Count a deletion that was observed, or that failed."""
        self.lower(key, deletions=1)

    def lower(self, key: str, *, creations: int = 0, deletions: int = 0) -> None:
        """Expect fewer (`LowerExpectations`): those of an object without any stay none."""
        if (expected := self._all.get(key)) is not None:
            expected.creations -= creations
            expected.deletions -= deletions

    def delete(self, key: str) -> None:
        """Forget an object that is gone (`DeleteExpectations`)."""
        self._all.pop(key, None)


class UidExpectations(Expectations):
    """Expectations whose deletions are known by uid (`UIDTrackingControllerExpectations`).

    An object in graceful deletion is observed as an update, and again when it goes: by its uid it is counted once.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._uids: dict[str, set[str]] = {}

    def expect_deletion_of(self, key: str, uids: Iterable[str]) -> None:
        """Expect the deletions of objects from now on, in place of earlier expectations."""
        self._uids[key] = found = set(uids)
        self.expect_deletions(key, len(found))

    def deletion_of_observed(self, key: str, uid: str) -> None:
        """Count the deletion of an object that was observed, or that failed; once."""
        uids = self._uids.get(key)
        if uids is not None and uid in uids:
            uids.discard(uid)
            self.deletion_observed(key)

    def uids(self, key: str) -> frozenset[str]:
        """Return the objects whose deletion is expected still."""
        return frozenset(self._uids.get(key, ()))

    def delete(self, key: str) -> None:
        self._uids.pop(key, None)
        super().delete(key)
