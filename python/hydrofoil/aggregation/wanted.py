"""The API services of custom resource definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hydrofoil.engine import Stored
from hydrofoil.registry.outlines import Outline, Outlines


def services_of(definition: Outline | None) -> frozenset[str]:
    """Return the names of the API services of a definition's served versions, whether or not its names are accepted."""
    if definition is None:
        return frozenset()
    spec = definition["spec"]
    return frozenset(f"{v['name']}.{spec['group']}" for v in spec["versions"] if v["served"])


class Wanted:
    """The API services of all definitions, as a function of these."""

    def __init__(self, outlines: Outlines) -> None:
        self._outlines = outlines
        self._of: dict[str, frozenset[str]] = {}
        """The API services of each definition."""
        self._times: Counter[str] = Counter()
        self._changed: dict[str, None] = {}

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present definitions."""
        found = {stored.name: services_of(self._outlines.of(stored)) for stored in objects}
        for name in [name for name in self._of if name not in found]:
            self._put(name, frozenset())
        for name, services in found.items():
            self._put(name, services)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        if (stored := new or old) is not None:
            self._put(stored.name, services_of(self._outlines.of(new) if new is not None else None))

    async def settle(self) -> None:
        """Return at once: nothing is pending."""

    def _put(self, name: str, services: frozenset[str]) -> None:
        before = self._of.pop(name, frozenset())
        if services:
            self._of[name] = services
        for gone in before - services:
            self._times[gone] -= 1
            if not self._times[gone]:
                del self._times[gone]
        self._times.update(services - before)
        self._changed |= dict.fromkeys(before ^ services)

    def wants(self, service: str) -> bool:
        """Report whether a definition is served under an API service."""
        return service in self._times

    def changed(self) -> list[str]:
        """Return the API services that definitions began or ceased to use since the last call."""
        changed, self._changed = self._changed, {}
        return sorted(changed)
