"""What the slices of a service are like (`k8s.io/endpointslice`, utils.go)."""

from __future__ import annotations

from hydrofoil.controllers.network.service_pods import HEADLESS_LABEL, find_port, has_hostname, pod_addresses
from hydrofoil.controllers.network.slice_plan import Ports, SliceDraft, name_prefix
from hydrofoil.controllers.network.topology_cache import ZONE
from hydrofoil.controllers.objects.endpoint_slices import (
    IPV4,
    IPV6,
    MANAGED_BY,
    SERVICE_NAME,
    Endpoint,
    EndpointConditions,
    EndpointPort,
    EndpointSlice,
)
from hydrofoil.controllers.objects.endpoints import ObjectReference
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.services import HEADLESS, Service

CONTROLLER = "endpointslice-controller.k8s.io"
RESERVED = (SERVICE_NAME, MANAGED_BY, HEADLESS_LABEL)
"""The labels of slices that are not the service's."""
HINTS_ANNOTATIONS = ("service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode")
"""The annotations that ask for hints by zone; the first one that is there counts."""


def is_placeholder(present: EndpointSlice, empty: SliceDraft) -> bool:
    """Report whether a slice is an empty one as it would be made now (`placeholderSliceCompare`)."""
    owners = [owner.uid for owner in present.metadata.owner_references]
    return (
        not present.endpoints
        and not present.ports
        and present.metadata.labels == empty.labels
        and owners == [owner["uid"] for owner in empty.owners]
    )


def address_types(service: Service) -> list[str]:
    """Return the types of a service's addresses (`getAddressTypesForService`)."""
    families = [family for family in service.spec.ip_families if family in (IPV4, IPV6)]
    if families:
        return families
    if service.has_ip:
        return [IPV6 if ":" in service.spec.cluster_ip else IPV4]
    return [IPV4, IPV6]


def wants_hints(service: Service) -> bool:
    """Report whether an annotation asks for hints by zone (`hintsEnabled`)."""
    annotations = service.metadata.annotations
    value = next((annotations[name] for name in HINTS_ANNOTATIONS if name in annotations), "")
    return value in ("Auto", "auto")


def is_owned(endpoint_slice: EndpointSlice, service: Service) -> bool:
    """Report whether a slice is one of this service, and not of an earlier one of its name."""
    owner = "v1", "Service", service.metadata.uid
    return any((o.api_version, o.kind, o.uid) == owner for o in endpoint_slice.metadata.owner_references)


def labels_of(service: Service, present: dict[str, str]) -> tuple[dict[str, str], bool]:
    """Return the labels of a service's slice, and whether those of the service differ from it."""
    wanted = {name: value for name, value in service.metadata.labels.items() if name not in RESERVED}
    differ = wanted != {name: value for name, value in present.items() if name not in RESERVED}
    if not service.has_ip:
        wanted[HEADLESS_LABEL] = ""
    wanted[SERVICE_NAME] = service.metadata.name
    wanted[MANAGED_BY] = CONTROLLER
    return wanted, differ


def new_slice(service: Service, ports: Ports, address_type: str) -> SliceDraft:
    """Return an empty slice of a service."""
    labels, _ = labels_of(service, {})
    owners = [service.metadata.owned_by("v1", "Service")]
    return SliceDraft(name_prefix(service.metadata.name), address_type, ports, [], labels, {}, owners=owners)


def endpoint_ports(service: Service, pod: Pod) -> list[EndpointPort]:
    """Return the ports of a pod that a service sends traffic to (`getEndpointPorts`)."""
    spec = service.spec
    if not spec.ports and spec.cluster_ip == HEADLESS:
        return []
    found = ((port, find_port(pod, port)) for port in spec.ports)
    return [
        EndpointPort(port.name, port.protocol, number, port.app_protocol)
        for port, number in found
        if number is not None
    ]


def endpoint_of(pod: Pod, node: Node | None, service: Service, address_type: str) -> Endpoint:
    """Return the endpoint of a pod (`podToEndpoint`); without addresses if it has none of the type."""
    meta, is_ready = pod.metadata, pod.is_ready
    zone = node.metadata.labels.get(ZONE) if node is not None else None
    return Endpoint(
        tuple(pod_addresses(pod, ipv6=address_type == IPV6)),
        EndpointConditions(
            service.spec.publish_not_ready_addresses or (is_ready and not pod.is_deleting), is_ready, pod.is_deleting
        ),
        pod.spec.hostname if has_hostname(pod, service) else None,
        ObjectReference("Pod", meta.namespace, meta.name, meta.uid),
        node_name=pod.spec.node_name or None,
        zone=zone or None,
    )
