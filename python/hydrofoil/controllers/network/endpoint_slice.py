"""EndpointSlices of services (`pkg/controller/endpointslice/endpointslice_controller.go`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.network.service_controller import ServiceController, has_endpoints
from hydrofoil.controllers.network.service_slices import CONTROLLER
from hydrofoil.controllers.network.slice_reconciler import CAPACITY, SliceReconciler
from hydrofoil.controllers.network.slice_writer import SliceWriter
from hydrofoil.controllers.network.topology_cache import ZONE, TopologyCache
from hydrofoil.controllers.objects.endpoint_slices import MANAGED_BY, SERVICE_NAME, EndpointSlice, service_of
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.services import Service
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.written_versions import WrittenVersions, revision_of

COMPONENT = "endpoint-slice-controller"
FOREIGN_DELAY = 1.0
"""The seconds before a slice that somebody else has changed is mended (`endpointSliceChangeMinSyncDelay`)."""


def is_managed(endpoint_slice: EndpointSlice | None) -> bool:
    """Report whether a slice is one of this controller."""
    return endpoint_slice is not None and endpoint_slice.metadata.labels.get(MANAGED_BY) == CONTROLLER


class EndpointSliceController(ServiceController):
    """Keep the EndpointSlices of each service that selects pods."""

    name = "endpointslice"
    user = service_account("endpointslice-controller")

    def __init__(self, runtime: Runtime, capacity: int = CAPACITY) -> None:
        """Take the most endpoints of a slice (`--max-endpoints-per-slice`)."""
        super().__init__(runtime)
        self._capacity = capacity
        self._recorder = runtime.recorder(COMPONENT, self.user)
        self._written = WrittenVersions(lambda: self.registry.storage.epoch)
        self._topology = TopologyCache()
        self._absent: dict[str, set[tuple[str, str]]] = {}
        """The services whose pods are on a node that does not exist, by its name: they are synced when it comes."""

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        slices = ("discovery.k8s.io", "endpointslices")
        return all_served(catalog, ("", "services"), ("", "pods"), ("", "nodes"), slices)

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            *super().watches(),
            self.watch("", "nodes", Node, self._on_node),
            self.watch("discovery.k8s.io", "endpointslices", EndpointSlice, self._on_slice),
        ]

    def start(self) -> None:
        super().start()
        self._nodes = self.lister("", "nodes", Node)
        self._slices = self.lister("discovery.k8s.io", "endpointslices", EndpointSlice)
        self._by_service = self._slices.index(service_of)
        slices = self.resource("discovery.k8s.io", "endpointslices")
        writer = SliceWriter(self.client, slices, self._slices, self._written)
        self._reconciler = SliceReconciler(writer, self._nodes, self._topology, self._capacity)

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    def _on_node(self, old: Node | None, new: Node | None) -> None:
        if old is None and new is not None:
            for service in self._absent.pop(new.metadata.name, ()):
                self.put(*service)
        zones = [node and node.metadata.labels.get(ZONE) for node in (old, new)]
        if old is None or new is None or old.is_ready != new.is_ready or zones[0] != zones[1]:
            # The CPUs of all nodes are counted once for many changes.
            self.put("")

    def _on_slice(self, old: EndpointSlice | None, new: EndpointSlice | None) -> None:
        either = old if new is None else new
        assert either is not None
        names = {found.metadata.labels.get(SERVICE_NAME, "") for found in (old, new) if found is not None}
        meta = either.metadata
        if len(names) > 1:
            for name in filter(None, names):
                self.queue.after((meta.namespace, name), FOREIGN_DELAY)
            return
        key = meta.namespace, names.pop()
        if not key[1] or not (is_managed(old) or is_managed(new)):
            return
        observed = self._written.observe(key, meta.name, revision_of(new))
        if observed.is_awaited:
            self.put(*key)
        elif observed.is_foreign:
            self.queue.after(key, FOREIGN_DELAY)

    async def work(self, key: tuple[str, ...]) -> bool:
        """Sync a service, or the zones of all nodes."""
        if len(key) == 1:
            for overloaded in self._topology.set_nodes(self._nodes):
                self.put(*overloaded)
            return True
        service = self.services.get(*key)
        if service is not None and has_endpoints(service) and self._written.is_stale(key):
            return True
        return await super().work(key)

    async def remove(self, namespace: str, name: str) -> None:
        """Forget a service that is gone: its slices are the garbage collector's."""
        self._written.forget((namespace, name))

    async def sync(self, service: Service, pods: list[Pod], time: str) -> bool:
        """Write the slices of a service that differ."""
        meta = service.metadata
        found = self._by_service.get(f"{meta.namespace}/{meta.name}")
        present = [one for one in found if is_managed(one) and not one.metadata.is_deleting]
        about = meta.reference("v1", "Service")
        events, error = await self._reconciler.reconcile(service, pods, present, time)
        for occurrence in events:
            self._recorder.record(about, *occurrence)
        if error is None:
            return True
        text = f"Error updating Endpoint Slices for Service {meta.namespace}/{meta.name}: {error}"
        self._recorder.record(about, WARNING, "FailedToUpdateEndpointSlices", text)
        for node in error.nodes:
            self._absent.setdefault(node, set()).add((meta.namespace, meta.name))
        return not error.is_repeated
