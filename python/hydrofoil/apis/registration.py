"""The API services that are registered: which group versions there are, in which order, and who serves them.

The table is a function of the objects of `apiservices.apiregistration.k8s.io` (kube-aggregator `pkg/apiserver`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from hydrofoil.apis.version import version_key
from hydrofoil.engine import Stored

GROUP = "apiregistration.k8s.io"
OWN_PRIORITY = 20_000
"""The group of API services comes first in aggregated discovery."""
CUSTOM_PRIORITY = (1000, 100)
"""Group and version priority of what custom resource definitions bring (`crdregistration_controller.go`)."""


@dataclass(slots=True, frozen=True)
class Service:
    """Where a group version is served that is not served here."""

    namespace: str
    name: str
    port: int
    ca: bytes
    """PEM certificates; empty for the roots of the system."""
    insecure: bool

    @property
    def host(self) -> str:
        """The name that its certificate must have."""
        return f"{self.name}.{self.namespace}.svc"


@dataclass(slots=True, frozen=True)
class Registration:
    """One API service."""

    name: str
    group: str
    version: str
    group_priority: int
    version_priority: int
    service: Service | None
    available: bool

    @property
    def path(self) -> str:
        """The path of its discovery document, and the beginning of all others."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


def registration(body: dict[str, Any]) -> Registration:
    """What an APIService says."""
    spec = body.get("spec", {})
    service = None
    if (given := spec.get("service")) is not None:
        service = Service(
            given.get("namespace", ""),
            given.get("name", ""),
            given.get("port", 443),
            base64.b64decode(spec.get("caBundle") or ""),
            spec.get("insecureSkipTLSVerify", False),
        )
    conditions = body.get("status", {}).get("conditions") or ()
    available = any(c["type"] == "Available" and c["status"] == "True" for c in conditions)
    group, version = spec.get("group", ""), spec.get("version", "")
    priorities = spec.get("groupPriorityMinimum", 0), spec.get("versionPriority", 0)
    return Registration(body["metadata"]["name"], group, version, *priorities, service, available)


class Registrations:
    """All API services by name."""

    def __init__(self) -> None:
        self._all: dict[str, Registration] = {}
        self.remote: dict[tuple[str, str], Registration] = {}
        """Those that a service serves, by group and version."""
        self.discovered: dict[str, dict[str, Any]] = {}
        """What is known of the resources of each that a service serves: an APIVersionDiscovery, by name."""
        self.changes = 0
        """Grows with every change: what was made of the table before is stale then."""
        self.listeners: list[Callable[[str, Registration | None], None]] = []
        """Called with the name of what changed, and what it is now."""
        self._untold: dict[str, None] = {}
        """The names of what changed and listeners were not told of yet."""

    def replace(self, objects: Iterable[Stored]) -> None:
        """Take in all API services there are."""
        found = {stored.name: registration(orjson.loads(stored.json)) for stored in objects}
        for name in [name for name in self._all if name not in found]:
            self._remove(name)
        for new in found.values():
            self._put(new)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Take in a change."""
        if new is not None:
            self._put(registration(orjson.loads(new.json)))
        elif old is not None:
            self._remove(old.name)

    async def settle(self) -> None:
        """All of it is in at once."""

    def tell(self) -> None:
        """Tell the listeners what has changed since they were told last."""
        untold, self._untold = self._untold, {}
        for name in untold:
            for listener in self.listeners:
                listener(name, self._all.get(name))

    def _put(self, new: Registration) -> None:
        old = self._all.get(new.name)
        if old == new:
            return
        self._all[new.name] = new
        self._changed(old, new, new.name)

    def _remove(self, name: str) -> None:
        if (old := self._all.pop(name, None)) is not None:
            self._changed(old, None, name)

    def discover(self, name: str, entry: dict[str, Any]) -> None:
        """Take in what a service says of its resources."""
        registered = self._all.get(name)
        if registered is not None and registered.service is not None and self.discovered.get(name) != entry:
            self.discovered[name] = entry
            self.changes += 1

    def _changed(self, old: Registration | None, new: Registration | None, name: str) -> None:
        if old is not None:
            self.remote.pop((old.group, old.version), None)
        if new is not None and new.service is not None:
            self.remote[new.group, new.version] = new
        else:
            self.discovered.pop(name, None)
        self.changes += 1
        self._untold[name] = None

    def get(self, name: str) -> Registration | None:
        """An API service by name."""
        return self._all.get(name)

    def groups(self) -> dict[str, list[str]]:
        """The groups in the order of discovery and their versions, the preferred one first
        (`SortedByGroupAndVersion`)."""
        found: dict[str, list[Registration]] = {}
        for r in sorted(self._all.values(), key=lambda r: (-r.group_priority, r.name)):
            found.setdefault(r.group, []).append(r)
        return {
            group: [r.version for r in sorted(rs, key=lambda r: (-r.version_priority, version_key(r.version)))]
            for group, rs in found.items()
        }
