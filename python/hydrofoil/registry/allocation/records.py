"""IPAddress objects: the record of which service has an address, the same for all servers of a log."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Stored
from hydrofoil.registry.allocation.cluster_ips import family_of
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write

GROUP = "networking.k8s.io"
MANAGED_BY, FAMILY = "ipaddress.kubernetes.io/managed-by", "ipaddress.kubernetes.io/ip-family"
MANAGER = "ipallocator.k8s.io"


class AddressRecords:
    """Create and delete the objects of addresses (`ipallocator.go` `createIPAddress`, `release`).

    They are the condition of an allocation: of two servers that choose one address, one creates its object.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._resource: Resource | None = None

    @property
    def resource(self) -> Resource | None:
        """Return the resource; None if it is not served, and nothing is recorded."""
        if self._resource is None:
            self._resource = self._registry.catalog.find(GROUP, "v1", "ipaddresses")
        return self._resource

    def find(self, address: str) -> Stored | None:
        """Return the object of an address."""
        resource = self.resource
        if resource is None:
            return None
        return self._registry.collection(resource).get(resource.native, "", address)

    def present(self, address: str) -> bool:
        """Report whether an address has an object."""
        return self.find(address) is not None

    async def add(self, address: str, namespace: str, service: str) -> bool:
        """Record that a service has an address; False if another one does. Raise ApiError."""
        resource = self.resource
        if resource is None:
            return True
        labels = {FAMILY: family_of(address), MANAGED_BY: MANAGER}
        parent = {"resource": "services", "namespace": namespace, "name": service}
        body = {"metadata": {"name": address, "labels": labels}, "spec": {"parentRef": parent}}
        draft, _ = resource.native.decode(orjson.dumps(body), "json")
        try:
            await self._registry.create(resource, "", draft, Write(manager="kube-apiserver"))
        except errors.ApiError as e:
            if e.reason != "AlreadyExists":
                raise
            return False
        return True

    async def remove(self, address: str) -> None:
        """Delete the object of an address, if there is one. Raise ApiError."""
        resource = self.resource
        if resource is None or not self.present(address):
            return
        try:
            await self._registry.delete(resource, "", address, DeleteOptions(), Write())
        except errors.ApiError as e:
            if e.code != 404:
                raise


def parent_of(stored: Stored) -> dict[str, Any]:
    """Return what an address is for: group, resource, namespace and name."""
    found: dict[str, Any] = (orjson.loads(stored.json).get("spec") or {}).get("parentRef") or {}
    return found
