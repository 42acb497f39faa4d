"""The resources under which a request is seen, and their kinds (apimachinery `runtime.EquivalentResourceMapper`)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hydrofoil.apis.catalog import Catalog, Resource


class Kind(Struct, frozen=True):
    """Group, version and kind."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """Return `v1` or `group/version`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def shown(self) -> dict[str, str]:
        """Return it as in reviews."""
        return {"group": self.group, "version": self.version, "kind": self.kind}


class Target(Struct, frozen=True):
    """A resource with the kind of the objects of a request for it."""

    resource: Resource
    kind: Kind

    def shown(self) -> dict[str, str]:
        """Return the resource as in reviews."""
        return {"group": self.resource.group, "version": self.resource.version, "resource": self.resource.plural}


def target(resource: Resource, subresource: str) -> Target:
    """Return a resource and the kind of its own objects, or of those of a subresource."""
    sub = resource.subresources.get(subresource) if subresource else None
    if sub is None or sub.kind == resource.kind:
        return Target(resource, Kind(resource.group, resource.version, resource.kind))
    return Target(resource, Kind(sub.group, sub.version or "v1", sub.kind))


class Equivalents:
    """The other resources with the objects of a resource; they are found once for each change of the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._changes = -1
        self._found: dict[tuple[Resource, str], Sequence[Target]] = {}

    def of(self, resource: Resource, subresource: str) -> Sequence[Target]:
        """Return them in the order of the catalog; with a subresource those that have it."""
        if self._changes != self._catalog.changes:
            self._changes = self._catalog.changes
            self._found.clear()
        key = (resource, subresource)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = [
                target(other, subresource)
                for other in self._catalog.resources()
                if other is not resource
                and other.storage == resource.storage
                and (not subresource or subresource in other.subresources)
            ]
        return found
