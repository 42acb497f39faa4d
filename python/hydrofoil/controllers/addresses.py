"""Repair of the records of cluster IPs (kube-apiserver `ipallocator/controller/repairip.go`)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.runtime.controller import Controller, Watch, all_served
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.engine import Stored
from hydrofoil.registry.allocation.allocated import held_by
from hydrofoil.registry.allocation.ranges import canonical
from hydrofoil.registry.allocation.records import MANAGED_BY, MANAGER, AddressRecords, parent_of

GRACE = 60.0
"""The time in seconds that a service may take to appear after the objects of its addresses."""
SOON = 5.0
"""The same, in seconds, for a service that exists: the creation of a second one of its name fails."""


class AddressRepair(Controller):
    """Give every address of a service its object, and delete objects that have none.

    A server that ends between the write of an address and that of its service leaves one over.
    """

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._records = AddressRecords(runtime.registry)

    @staticmethod
    def served(catalog: Catalog) -> bool:
        """Report whether addresses have objects."""
        return all_served(catalog, ("networking.k8s.io", "ipaddresses"), ("", "services"))

    def watches(self) -> list[Watch]:
        return [
            (self.resource("", "services"), self._on_service),
            (self.resource("networking.k8s.io", "ipaddresses"), self._on_address),
        ]

    def _on_service(self, _: Stored | None, new: Stored | None) -> None:
        if new is not None:
            self.put("service", new.namespace, new.name)

    def _on_address(self, _: Stored | None, new: Stored | None) -> None:
        if new is not None:
            self.put("address", "", new.name)

    async def work(self, key: tuple[str, ...]) -> bool:
        what, namespace, name = key
        if what == "service":
            await self._service(namespace, name)
        else:
            await self._address(name)
        return True

    async def _service(self, namespace: str, name: str) -> None:
        """Record the addresses of a service that have no object, and those of another service that lacks them."""
        for address in self._addresses(namespace, name):
            found = self._records.find(address)
            if found is not None:
                parent = parent_of(found)
                if (parent.get("namespace"), parent.get("name")) == (namespace, name):
                    continue
                if address in self._addresses(str(parent.get("namespace")), str(parent.get("name"))):
                    # Of two services with one address, one must be made anew.
                    continue
                await self._records.remove(address)
            await self._records.add(address, namespace, name)

    async def _address(self, name: str) -> None:
        """Delete the object of an address that its service does not have, unless it may still get it."""
        found = self._records.find(name)
        if found is None:
            return
        body = orjson.loads(found.json)
        if body["metadata"].get("labels", {}).get(MANAGED_BY) != MANAGER:
            return
        parent = parent_of(found)
        grace = 0.0
        if not parent.get("group") and parent.get("resource") == "services":
            service = self.registry.find("", "services", parent.get("namespace", ""), parent.get("name", ""))
            if service is not None and name in addresses_of(service):
                return
            external = service is not None and orjson.loads(service.json)["spec"].get("type") == "ExternalName"
            grace = GRACE if service is None or external else SOON
        age = self.registry.clock.seconds() - _creation_time(body)
        if age < grace:
            # The age is one of the server's clock, which a test may stop or move.
            self.queue.after(("address", "", name), SOON)
            return
        await self._records.remove(name)

    def _addresses(self, namespace: str, name: str) -> list[str]:
        service = self.registry.find("", "services", namespace, name)
        return [] if service is None else addresses_of(service)


def addresses_of(service: Stored) -> list[str]:
    """Return the addresses of a service as their objects are named."""
    return [str(canonical(ip)) for ip in held_by(orjson.loads(service.json)["spec"])[0] if ip != "None"]


def _creation_time(body: dict[str, Any]) -> float:
    return datetime.fromisoformat(body["metadata"]["creationTimestamp"]).timestamp()
