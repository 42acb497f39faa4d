"""The pods that selectors of a controller's objects select."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from hydrofoil.controllers.objects.meta import LabelSelector
from hydrofoil.controllers.objects.pods import Pod, namespace_of
from hydrofoil.controllers.runtime.index import Key
from hydrofoil.controllers.runtime.lister import Lister
from hydrofoil.pace.pacer import Pacer

BATCH = 256
"""The number of pods between two looks at the clock."""


class PodSelections:
    """The pods of each selector of a namespace, kept with every change of a pod.

    Upstream looks at all pods of the namespace whenever it syncs an object. Here a change of a pod costs a look at the
    selectors of its namespace, and nothing if its labels are as before; a sync costs as much as its own pods.

    Both `apply` and `select` are needed: the first is called by the controller's handler for every change of a pod,
    the second begins with the pods that are present. A pod that changes while `select` looks at the others is added
    or removed by `apply`, since the selector is known before the first look.
    """

    def __init__(self, pods: Lister[Pod]) -> None:
        self._pods = pods
        self._selectors: dict[str, dict[Key, LabelSelector]] = {}
        """The selectors by namespace and object."""
        self._selected: dict[Key, dict[Key, None]] = {}
        """The pods of each object, in the order in which they came."""
        self._by_pod: dict[Key, tuple[Key, ...]] = {}
        """The objects of each pod that has any."""

    def apply(self, old: Pod | None, new: Pod | None) -> tuple[tuple[Key, ...], tuple[Key, ...]]:
        """Apply a change of a pod; return the objects whose selectors selected it before, and do now."""
        either = old if new is None else new
        assert either is not None
        meta = either.metadata
        place = meta.namespace, meta.name
        before = self._by_pod.get(place, ())
        if new is None:
            after: tuple[Key, ...] = ()
        elif old is not None and old.metadata.labels == new.metadata.labels:
            return before, before
        else:
            selectors = self._selectors.get(meta.namespace, {})
            after = tuple(owner for owner, selector in selectors.items() if selector.matches(meta.labels))
        for owner in before:
            if owner not in after:
                del self._selected[owner][place]
        for owner in after:
            self._selected[owner][place] = None
        if after:
            self._by_pod[place] = after
        else:
            self._by_pod.pop(place, None)
        return before, after

    async def select(self, owner: Key, selector: LabelSelector) -> list[Pod]:
        """Return the pods that the selector of an object selects, as far as their events have been delivered."""
        if self._selectors.get(owner[0], {}).get(owner) != selector:
            self.forget(owner)
            await self._scan(owner, selector)
        found: list[Pod] = []
        places, pods, pacer = iter([*self._selected.get(owner, ())]), self._pods.values, Pacer()
        while batch := [*islice(places, BATCH)]:
            found += [pod for place in batch if (pod := pods.get(place)) is not None]
            await pacer.pause()
        return found

    async def _scan(self, owner: Key, selector: LabelSelector) -> None:
        namespace = owner[0]
        self._selectors.setdefault(namespace, {})[owner] = selector
        self._selected[owner] = {}
        places, pacer = iter(self._pods.index(namespace_of).places(namespace)), Pacer()
        while batch := [*islice(places, BATCH)]:
            self._add(owner, selector, batch)
            await pacer.pause()

    def _add(self, owner: Key, selector: LabelSelector, places: Iterable[Key]) -> None:
        selected = self._selected[owner]
        for place in places:
            pod = self._pods.values.get(place)
            if pod is not None and place not in selected and selector.matches(pod.metadata.labels):
                selected[place] = None
                self._by_pod[place] = (*self._by_pod.get(place, ()), owner)

    def forget(self, owner: Key) -> None:
        """Forget an object that is gone."""
        for place in self._selected.pop(owner, ()):
            rest = tuple(other for other in self._by_pod[place] if other != owner)
            if rest:
                self._by_pod[place] = rest
            else:
                del self._by_pod[place]
        selectors = self._selectors.get(owner[0], {})
        selectors.pop(owner, None)
        if not selectors:
            self._selectors.pop(owner[0], None)

    def of(self, pod: Pod) -> tuple[Key, ...]:
        """Return the objects whose selectors select a pod."""
        return self._by_pod.get((pod.metadata.namespace, pod.metadata.name), ())
