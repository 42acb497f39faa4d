"""How the slices of a service come in step with its pods (`k8s.io/endpointslice`, reconciler.go)."""

from __future__ import annotations

from collections.abc import Sequence

from hydrofoil.controllers.network.service_pods import is_endpoint
from hydrofoil.controllers.network.service_slices import (
    address_types,
    endpoint_of,
    endpoint_ports,
    is_owned,
    is_placeholder,
    labels_of,
    new_slice,
    wants_hints,
)
from hydrofoil.controllers.network.slice_plan import PortGroup, Ports, SliceDraft, SlicePlan, key_of, ports_key
from hydrofoil.controllers.network.slice_writer import SliceWriter
from hydrofoil.controllers.network.topology_cache import DISABLED, Occurrence, TopologyCache
from hydrofoil.controllers.network.traffic_distribution import VALUES, remove_hints, set_hints
from hydrofoil.controllers.objects.endpoint_slices import EndpointSlice
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.services import Service
from hydrofoil.controllers.runtime.lister import Lister
from hydrofoil.controllers.runtime.recorder import WARNING
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer

CAPACITY = 100
"""The most endpoints of a slice (`--max-endpoints-per-slice`)."""


class ReconcileError(Exception):
    """Slices that could not all be written."""

    def __init__(self, texts: list[str], nodes: set[str], *, is_repeated: bool) -> None:
        """`nodes` do not exist; `is_repeated`: there is another reason, too, which may pass by itself."""
        super().__init__(texts[0] if len(set(texts)) == 1 else f"[{', '.join(dict.fromkeys(texts))}]")
        self.nodes = nodes
        self.is_repeated = is_repeated


class SliceReconciler:
    """Write the slices of services."""

    def __init__(
        self,
        writer: SliceWriter,
        nodes: Lister[Node],
        topology: TopologyCache,
        capacity: int = CAPACITY,
    ) -> None:
        self._writer = writer
        self._nodes = nodes
        self._topology = topology
        self._capacity = capacity

    async def reconcile(
        self, service: Service, pods: list[Pod], present: Sequence[EndpointSlice], time: str
    ) -> tuple[list[Occurrence], ReconcileError | None]:
        """Write what differs; return the events about it, and what could not be written."""
        types, texts, nodes, events = address_types(service), [], set(), []
        is_repeated = False
        key = service.metadata.namespace, service.metadata.name
        gone = [one for one in present if one.address_type not in types]
        for one in gone:
            self._topology.forget(key, one.address_type)
        for address_type in types:
            those = [one for one in present if one.address_type == address_type]
            plan, missing = await self._plan(service, pods, those, address_type)
            texts += [text for text, _ in missing]
            nodes |= {node for _, node in missing}
            found = self._hints(service, address_type, plan, those)
            try:
                await self._write(service, plan, time)
            except ApiError as e:
                texts.append(e.message)
                is_repeated = True
            events += found
        for one in gone:
            try:
                await self._writer.delete(key, one)
            except ApiError as e:
                place = f"{one.metadata.name} EndpointSlice for Service {key[0]}/{key[1]}"
                texts.append(f"error deleting {place}: {e.message}")
                is_repeated = True
        return events, ReconcileError(texts, nodes, is_repeated=is_repeated) if texts else None

    async def _plan(
        self, service: Service, pods: list[Pod], present: list[EndpointSlice], address_type: str
    ) -> tuple[SlicePlan, list[tuple[str, str]]]:
        """Return what is to be written for one type of addresses, and the nodes that are missing, with messages."""
        plan, groups, missing = SlicePlan(), dict[Ports, PortGroup](), list[tuple[str, str]]()
        pacer = Pacer()
        for pod in pods:
            await pacer.pause()
            if not is_endpoint(pod, with_terminating=True):
                continue
            ports = endpoint_ports(service, pod)
            group = groups.setdefault(ports_key(ports), PortGroup(ports_key(ports), [], {}))
            node = self._nodes.get("", pod.spec.node_name)
            if node is None and not service.spec.publish_not_ready_addresses:
                place = f"{service.metadata.namespace}/{service.metadata.name}"
                text = f"skipping Pod {pod.metadata.name} for Service {place}: Node {pod.spec.node_name} Not Found"
                missing.append((text, pod.spec.node_name))
                continue
            endpoint = endpoint_of(pod, node, service, address_type)
            if endpoint.addresses:
                group.desired[key_of(endpoint)] = endpoint
        for one in present:
            group_of = groups.get(ports_key(one.ports)) if is_owned(one, service) else None
            if group_of is None:
                plan.delete.append(one)
            else:
                group_of.present.append(one)

        def make(ports: Ports) -> SliceDraft:
            return new_slice(service, ports, address_type)

        for group in groups.values():
            group.place(plan, self._capacity, make, lambda one: labels_of(service, one.metadata.labels))
            await pacer.pause()
        self._add_placeholder(service, plan, present, make(()))
        return plan, missing

    def _add_placeholder(
        self, service: Service, plan: SlicePlan, present: list[EndpointSlice], empty: SliceDraft
    ) -> None:
        """Keep or make a slice without endpoints where there would be none."""
        if len(present) != len(plan.delete) or plan.create:
            return
        if len(plan.delete) == 1 and is_placeholder(plan.delete[0], empty):
            plan.delete.clear()
        else:
            plan.create.append(empty)

    def _hints(
        self, service: Service, address_type: str, plan: SlicePlan, present: list[EndpointSlice]
    ) -> list[Occurrence]:
        """Set or remove hints, by the annotation of the service or by its traffic distribution."""
        key = service.metadata.namespace, service.metadata.name
        changed = plan.changed()
        unchanged = [one for one in present if one.metadata.name not in changed]
        if wants_hints(service):
            return self._topology.add_hints(key, address_type, plan, unchanged)
        events = []
        if self._topology.has_hints(key):
            text = f"Topology Aware Hints has been disabled, addressType: {address_type}"
            events.append(Occurrence(WARNING, DISABLED, text))
        self._topology.forget(key, address_type)
        distribution = service.spec.traffic_distribution
        if distribution in VALUES:
            set_hints(plan, unchanged, distribution)
        else:
            remove_hints(plan, unchanged)
        return events

    async def _write(self, service: Service, plan: SlicePlan, time: str) -> None:
        meta = service.metadata
        plan.recycle(lambda gone, new: gone.address_type == new.address_type and is_owned(gone, service))
        for draft in (*plan.create, *plan.update):
            draft.set_trigger_time(time)
        about = f"Service {meta.namespace}/{meta.name}"
        await self._writer.write((meta.namespace, meta.name), about, plan, creates=not meta.is_deleting)
