"""The pods whose finalizers a controller removes, until it observes that (`pkg/controller/job/tracking_utils.go`)."""

from __future__ import annotations

from collections.abc import Iterable


class RemovedFinalizers:
    """The uids of pods by the key of their job.

    A pod whose finalizer is being removed was counted: as long as the informer shows it with the finalizer, it must not
    be counted once more.
    """

    def __init__(self) -> None:
        self._all: dict[str, set[str]] = {}

    def expect(self, key: str, uids: Iterable[str]) -> None:
        """Expect the removals from some pods, beside those that are expected already."""
        self._all.setdefault(key, set()).update(uids)

    def observe(self, key: str, uid: str) -> None:
        """Note that the finalizer of a pod is gone, or that it was not removed."""
        self._all.get(key, set()).discard(uid)

    def uids(self, key: str) -> set[str]:
        """Return the pods of a job whose removals are expected."""
        return set(self._all.get(key, ()))

    def delete(self, key: str) -> None:
        """Forget a job."""
        self._all.pop(key, None)
