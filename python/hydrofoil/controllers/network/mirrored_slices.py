"""What the mirrored slices of Endpoints are like (`pkg/controller/endpointslicemirroring/utils.go`)."""

from __future__ import annotations

from hydrofoil.controllers.network.service_pods import LAST_CHANGE_TRIGGER_TIME, LEADER_ANNOTATION, parse_address
from hydrofoil.controllers.network.slice_plan import (
    EndpointKey,
    Ports,
    SliceDraft,
    SlicePlan,
    is_same,
    key_of,
    name_prefix,
    ports_key,
)
from hydrofoil.controllers.network.subsets import repack
from hydrofoil.controllers.objects.endpoint_slices import (
    IPV4,
    IPV6,
    MANAGED_BY,
    SERVICE_NAME,
    SKIP_MIRROR,
    Endpoint,
    EndpointConditions,
    EndpointPort,
    EndpointSlice,
)
from hydrofoil.controllers.objects.endpoints import EndpointAddress, Endpoints, EndpointSubset

CONTROLLER = "endpointslicemirroring-controller.k8s.io"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
CAPACITY = 1000
"""The most addresses of a subset that are mirrored (`--mirroring-max-endpoints-per-subset`)."""
Desired = dict[tuple[str, Ports], dict[EndpointKey, Endpoint]]
"""Endpoints by the type of their addresses and their ports."""


def is_mirrored(endpoints: Endpoints | None) -> bool:
    """Report whether Endpoints are to be mirrored, apart from what their service says (`shouldMirror`)."""
    if endpoints is None:
        return False
    meta = endpoints.metadata
    return meta.labels.get(SKIP_MIRROR) != "true" and LEADER_ANNOTATION not in meta.annotations


def endpoint_of(address: EndpointAddress, *, ready: bool) -> tuple[str, Endpoint] | None:
    """Return the type of an address and its endpoint (`addressToEndpoint`); None if it is no address."""
    parsed = parse_address(address.ip)
    if parsed is None:
        return None
    text, is_ipv6 = parsed
    return IPV6 if is_ipv6 else IPV4, Endpoint(
        (text,),
        EndpointConditions(ready),
        address.hostname or None,
        address.target_ref,
        node_name=address.node_name,
    )


class DesiredEndpoints:
    """The endpoints of the slices that Endpoints should have."""

    def __init__(self, endpoints: Endpoints, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self.by_ports: Desired = {}
        self.invalid = 0
        """The number of addresses that are none."""
        self.skipped = 0
        """The number of addresses that are not mirrored, these included."""
        for subset in repack(endpoints.subsets or ()):
            self._add(subset)

    def _add(self, subset: EndpointSubset) -> None:
        ports = ports_key(EndpointPort(p.name, p.protocol, p.port, p.app_protocol) for p in subset.ports or ())
        for address_type in (IPV4, IPV6):
            self.by_ports.setdefault((address_type, ports), {})
        added = 0
        ready = [(address, True) for address in subset.addresses or ()]
        for address, is_ready in (*ready, *((address, False) for address in subset.not_ready_addresses or ())):
            if added >= self._capacity:
                break
            found = endpoint_of(address, ready=is_ready)
            if found is None:
                self.invalid += 1
                continue
            added += 1
            self.by_ports[found[0], ports][key_of(found[1])] = found[1]
        self.skipped += subset.count - added


def annotations_of(endpoints: Endpoints) -> dict[str, str]:
    """Return the annotations of Endpoints that their slices have, too."""
    kept = dict(endpoints.metadata.annotations)
    for name in (LAST_CHANGE_TRIGGER_TIME, LAST_APPLIED):
        kept.pop(name, None)
    return kept


def new_slice(endpoints: Endpoints, ports: Ports, address_type: str) -> SliceDraft:
    """Return an empty slice of Endpoints."""
    meta = endpoints.metadata
    return SliceDraft(
        name_prefix(meta.name),
        address_type,
        ports,
        [],
        {**meta.labels, SERVICE_NAME: meta.name, MANAGED_BY: CONTROLLER},
        annotations_of(endpoints),
        owners=[meta.owned_by("v1", "Endpoints")],
    )


def plan_slices(
    endpoints: Endpoints, desired: Desired, present: list[EndpointSlice], capacity: int = CAPACITY
) -> SlicePlan:
    """Return what is to be written: one slice for each set of ports and type of addresses that has endpoints."""
    plan = SlicePlan()
    existing: dict[tuple[str, Ports], list[EndpointSlice]] = {}
    for one in present:
        existing.setdefault((one.address_type, ports_key(one.ports)), []).append(one)
    for group, wanted in desired.items():
        have = existing.pop(group, [])
        if not wanted:
            plan.delete += have
            continue
        plan.delete += have[1:]
        if have and is_up_to_date(endpoints, have[0], wanted):
            continue
        draft = new_slice(endpoints, group[1], group[0])
        draft.endpoints = list(wanted.values())[:capacity]
        if have:
            draft.name = have[0].metadata.name
            plan.update.append(draft)
        else:
            plan.create.append(draft)
    for rest in existing.values():
        plan.delete += rest
    plan.recycle(lambda gone, new: gone.address_type == new.address_type)
    return plan


def is_up_to_date(endpoints: Endpoints, present: EndpointSlice, wanted: dict[EndpointKey, Endpoint]) -> bool:
    """Report whether a slice is as it should be."""
    have = {key_of(endpoint): endpoint for endpoint in present.endpoints or ()}
    if have.keys() != wanted.keys() or not all(is_same(wanted[key], have[key]) for key in wanted):
        return False
    meta = present.metadata
    labels = {name: value for name, value in meta.labels.items() if name not in (MANAGED_BY, SERVICE_NAME)}
    if labels != endpoints.metadata.labels or meta.annotations != annotations_of(endpoints):
        return False
    about = "Endpoints", endpoints.metadata.name
    # Endpoints of the same name were deleted and made anew.
    return all((o.kind, o.name) != about or o.uid == endpoints.metadata.uid for o in meta.owner_references)
