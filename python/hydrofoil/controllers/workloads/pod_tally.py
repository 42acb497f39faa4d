"""How many pods of an owner are in which state, kept up to date with each of their events.

A look at an owner of thousands of pods would else look at each of them, after an event of each: the time would grow
with the square of their number.
"""

from __future__ import annotations

from collections.abc import Iterable

from hydrofoil.controllers.objects.meta import Labels, LabelSelector
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.runtime.index import Key

ACTIVE, TERMINATING, MATCHING, LABELED, READY = 1, 2, 4, 8, 16
"""What is true of a pod: it runs on, is being deleted, is selected, has the labels of the template, is ready."""
OWN = ACTIVE | MATCHING
OF_LABELS = MATCHING | LABELED
STATES = 32


class PodTally:
    """The pods that an owner manages, by their states. A state is the sum of what is true of a pod."""

    __slots__ = ("_counts", "_labels", "_selector", "_states")

    def __init__(self, selector: LabelSelector, labels: Labels) -> None:
        self._selector = selector
        self._labels = labels
        self._states: dict[Key, int] = {}
        self._counts = [0] * STATES

    def fits(self, selector: LabelSelector, labels: Labels) -> bool:
        """Report whether the states are those by a selector and the labels of a template."""
        return self._labels == labels and self._selector == selector

    def __contains__(self, place: Key) -> bool:
        return place in self._states

    def _by_labels(self, pod: Pod) -> int:
        state, labels = 0, pod.metadata.labels
        if self._selector.matches(labels):
            state |= MATCHING
        if self._labels.items() <= labels.items():
            state |= LABELED
        return state

    def put(self, pod: Pod, old: Pod | None = None) -> bool:
        """Take the present state of a pod that the owner manages; report whether it is another one.

        The same pod may come more than once.

        `old` is the pod before a change, if it was in the tally: labels that are the same are not compared again.
        """
        place = pod.metadata.namespace, pod.metadata.name
        before = self._states.get(place)
        if before is not None and old is not None and old.metadata.labels == pod.metadata.labels:
            state = _life(pod) | before & OF_LABELS
        else:
            state = _life(pod) | self._by_labels(pod)
        if before == state:
            return False
        if before is not None:
            self._counts[before] -= 1
        self._states[place] = state
        self._counts[state] += 1
        return True

    def remove(self, place: Key) -> None:
        """Forget a pod that is gone, or that the owner manages no more."""
        if (before := self._states.pop(place, None)) is not None:
            self._counts[before] -= 1

    def count(self, state: int) -> int:
        """Return the number of pods of which at least this is true."""
        return sum(number for at, number in enumerate(self._counts) if at & state == state)

    @property
    def is_foreign_present(self) -> bool:
        """Report whether a pod that runs on is not selected any more."""
        return self.count(ACTIVE) > self.count(OWN)

    def places(self, state: int) -> Iterable[Key]:
        """Return the pods of which at least this is true."""
        return [place for place, at in self._states.items() if at & state == state]

    def foreign(self) -> Iterable[Key]:
        """Return the pods that run on, and are not selected any more."""
        return [place for place, at in self._states.items() if at & OWN == ACTIVE]


def _life(pod: Pod) -> int:
    """Return what is true of a pod whatever its labels are."""
    state = READY if pod.is_ready else 0
    if not pod.is_ended:
        state |= TERMINATING if pod.is_deleting else ACTIVE
    return state
