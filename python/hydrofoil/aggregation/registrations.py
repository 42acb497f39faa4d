"""Registered API services: group versions, their order, and the server of each.

The table is a function of the objects of `apiservices.apiregistration.k8s.io` (kube-aggregator `pkg/apiserver`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson
from msgspec.structs import replace

from hydrofoil.apis.registration import Registration, registration
from hydrofoil.apis.version import version_key
from hydrofoil.engine import Stored


class Registrations:
    """All API services by name."""

    def __init__(self, *, calls: bool = True) -> None:
        """Without `calls` no service is available: the addresses of a dump are those of another time."""
        self.calls = calls
        self._all: dict[str, Registration] = {}
        self.remote: dict[tuple[str, str], Registration] = {}
        """Those behind a service, by group and version."""
        self.discovered: dict[str, dict[str, Any]] = {}
        """The resources reported by each service, as an APIVersionDiscovery, by name of the API service."""
        self.changes = 0
        """A count that grows with each change: results derived from an earlier table are stale."""
        self.listeners: list[Callable[[str, Registration | None], None]] = []
        """Functions called with the name of a changed API service and its present registration."""
        self.resource_listeners: dict[Callable[[], None], None] = {}
        """Functions called when the resources behind services may have changed."""
        self._unreported: dict[str, None] = {}
        """Changed names that the listeners have not received yet."""
        self._remote_changed = False
        """Whether one of them has, or had, a service. Custom resources have thousands of registrations without one,
        and those who follow what services hold look at all of it."""

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the table by all present API services."""
        found = {stored.name: registration(orjson.loads(stored.json)) for stored in objects}
        for name in [name for name in self._all if name not in found]:
            self._remove(name)
        for new in found.values():
            self._put(new)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        if new is not None:
            self._put(registration(orjson.loads(new.json)))
        elif old is not None:
            self._remove(old.name)

    async def settle(self) -> None:
        """Return at once: nothing is pending."""

    def report(self) -> None:
        """Call the listeners for each change since the last call."""
        unreported, self._unreported = self._unreported, {}
        for name in unreported:
            for listener in self.listeners:
                listener(name, self._all.get(name))
        if self._remote_changed:
            self._remote_changed = False
            self._tell_of_resources()

    def _put(self, new: Registration) -> None:
        old = self._all.get(new.name)
        if new.service is not None and not self.calls:
            new = replace(new, available=False)
        if old == new:
            return
        self._all[new.name] = new
        self._changed(old, new, new.name)

    def _remove(self, name: str) -> None:
        if (old := self._all.pop(name, None)) is not None:
            self._changed(old, None, name)

    def discover(self, name: str, entry: dict[str, Any]) -> None:
        """Record the resources that a service reports."""
        registered = self._all.get(name)
        if registered is not None and registered.service is not None and self.discovered.get(name) != entry:
            self.discovered[name] = entry
            self.changes += 1
            self._tell_of_resources()

    def _tell_of_resources(self) -> None:
        for listener in list(self.resource_listeners):
            listener()

    def _changed(self, old: Registration | None, new: Registration | None, name: str) -> None:
        if old is not None:
            self.remote.pop((old.group, old.version), None)
        if new is not None and new.service is not None:
            self.remote[new.group, new.version] = new
        else:
            self.discovered.pop(name, None)
        self._remote_changed |= any(r is not None and r.service is not None for r in (old, new))
        self.changes += 1
        self._unreported[name] = None

    def get(self, name: str) -> Registration | None:
        """Return an API service by name."""
        return self._all.get(name)

    def available(self) -> dict[str, bool]:
        """Return whether each API service is available, by name."""
        return {name: found.available for name, found in self._all.items()}

    def groups(self) -> dict[str, list[str]]:
        """Return the groups in discovery order with their versions, the preferred one first
        (`SortedByGroupAndVersion`)."""
        found: dict[str, list[Registration]] = {}
        for r in sorted(self._all.values(), key=lambda r: (-r.group_priority, r.name)):
            found.setdefault(r.group, []).append(r)
        return {
            group: [r.version for r in sorted(rs, key=lambda r: (-r.version_priority, version_key(r.version)))]
            for group, rs in found.items()
        }
