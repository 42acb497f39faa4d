"""EndpointSlices of Endpoints that users write (`pkg/controller/endpointslicemirroring`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.network.mirrored_slices import (
    CAPACITY,
    CONTROLLER,
    DesiredEndpoints,
    is_mirrored,
    plan_slices,
)
from hydrofoil.controllers.network.slice_writer import SliceWriter
from hydrofoil.controllers.objects.endpoint_slices import MANAGED_BY, SERVICE_NAME, EndpointSlice, service_of
from hydrofoil.controllers.objects.endpoints import Endpoints
from hydrofoil.controllers.objects.services import Service
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.written_versions import WrittenVersions, revision_of
from hydrofoil.errors import ApiError
from hydrofoil.watch.queue import Key

COMPONENT = "endpoint-slice-mirroring-controller"


def is_managed(endpoint_slice: EndpointSlice | None) -> bool:
    """Report whether a slice is one of this controller."""
    return endpoint_slice is not None and endpoint_slice.metadata.labels.get(MANAGED_BY) == CONTROLLER


class EndpointSliceMirroringController(Controller):
    """Keep slices of the Endpoints of each service that selects no pods; the key is namespace and name."""

    name = "endpointslicemirroring"
    user = service_account("endpointslicemirroring-controller")
    width = 5

    def __init__(self, runtime: Runtime, capacity: int = CAPACITY) -> None:
        """Take the most addresses of a subset that are mirrored (`--mirroring-max-endpoints-per-subset`)."""
        super().__init__(runtime)
        self._capacity = capacity
        self._recorder = runtime.recorder(COMPONENT, self.user)
        self._written = WrittenVersions(lambda: self.registry.storage.epoch)

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all_served(catalog, ("", "services"), ("", "endpoints"), ("discovery.k8s.io", "endpointslices"))

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            self.watch("", "services", Service, self._on_service),
            self.watch("", "endpoints", Endpoints, self._on_endpoints),
            self.watch("discovery.k8s.io", "endpointslices", EndpointSlice, self._on_slice),
        ]

    def start(self) -> None:
        super().start()
        self._services = self.lister("", "services", Service)
        self._endpoints = self.lister("", "endpoints", Endpoints)
        self._slices = self.lister("discovery.k8s.io", "endpointslices", EndpointSlice)
        self._by_service = self._slices.index(service_of)
        self._writer = SliceWriter(
            self.client, self.resource("discovery.k8s.io", "endpointslices"), self._slices, self._written
        )

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    def _on_service(self, old: Service | None, new: Service | None) -> None:
        selects = [found.spec.selector is not None for found in (old, new) if found is not None]
        either = old if new is None else new
        assert either is not None
        # One that comes or goes counts if it selects nothing; a present one if that changes.
        if selects == [False] or len(set(selects)) == 2:
            self.put(either.metadata.namespace, either.metadata.name)

    def _on_endpoints(self, old: Endpoints | None, new: Endpoints | None) -> None:
        either = old if new is None else new
        assert either is not None
        if is_mirrored(old) or is_mirrored(new):
            self.put(either.metadata.namespace, either.metadata.name)

    def _on_slice(self, old: EndpointSlice | None, new: EndpointSlice | None) -> None:
        either = old if new is None else new
        assert either is not None
        names = {found.metadata.labels.get(SERVICE_NAME, "") for found in (old, new) if found is not None}
        namespace = either.metadata.namespace
        if len(names) > 1:
            for name in filter(None, names):
                self.put(namespace, name)
            return
        key = namespace, names.pop()
        if key[1] and (is_managed(old) or is_managed(new)):
            observed = self._written.observe(key, either.metadata.name, revision_of(new))
            if observed.is_awaited or observed.is_foreign:
                self.put(*key)

    async def work(self, key: Key) -> bool:
        """Bring the mirrored slices of Endpoints in step with them."""
        if self._written.is_stale(key):
            return True
        service, endpoints = self._services.get(*key), self._endpoints.get(*key)
        found = self._by_service.get("/".join(key))
        present = [one for one in found if is_managed(one) and not one.metadata.is_deleting]
        if endpoints is None or not is_mirrored(endpoints) or service is None or service.spec.selector is not None:
            for one in present:
                try:
                    await self._writer.delete(key, one)
                except ApiError as e:
                    if e.code != 404:
                        raise
            return True
        await self._mirror(key, endpoints, present)
        return True

    async def _mirror(self, key: Key, endpoints: Endpoints, present: list[EndpointSlice]) -> None:
        desired = DesiredEndpoints(endpoints, self._capacity)
        about = endpoints.metadata.reference("v1", "Endpoints")
        if desired.invalid:
            text = f"Skipped {desired.invalid} invalid IP addresses when mirroring to EndpointSlices"
            self._recorder.record(about, WARNING, "InvalidIPAddress", text)
        if desired.skipped > desired.invalid:
            text = (
                f"A max of {self._capacity} addresses can be mirrored to EndpointSlices per Endpoints subset. "
                f"{desired.skipped} addresses were skipped"
            )
            self._recorder.record(about, WARNING, "TooManyAddressesToMirror", text)
        plan = plan_slices(endpoints, desired.by_ports, present, self._capacity)
        await self._writer.write(key, f"Endpoints {'/'.join(key)}", plan, creates=not endpoints.metadata.is_deleting)
