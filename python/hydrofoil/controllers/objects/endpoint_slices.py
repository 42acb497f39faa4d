"""EndpointSlices (`staging/src/k8s.io/api/discovery/v1`)."""

from __future__ import annotations

from msgspec import Struct

from hydrofoil.controllers.objects.endpoints import ObjectReference
from hydrofoil.controllers.objects.meta import ObjectMeta

IPV4, IPV6 = "IPv4", "IPv6"
SERVICE_NAME = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror"


class EndpointPort(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A port of all endpoints of a slice."""

    name: str | None = None
    protocol: str | None = None
    port: int | None = None
    app_protocol: str | None = None


class EndpointConditions(Struct, frozen=True, omit_defaults=True):
    """Whether an endpoint takes traffic."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class Hint(Struct, frozen=True):
    """A zone or a node whose traffic an endpoint should take."""

    name: str


class EndpointHints(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Whose traffic an endpoint should take."""

    for_zones: tuple[Hint, ...] = ()
    for_nodes: tuple[Hint, ...] = ()


class Endpoint(Struct, frozen=True, rename="camel", omit_defaults=True):
    """An endpoint."""

    addresses: tuple[str, ...]
    conditions: EndpointConditions = EndpointConditions()
    hostname: str | None = None
    target_ref: ObjectReference | None = None
    deprecated_topology: dict[str, str] | None = None
    node_name: str | None = None
    zone: str | None = None
    hints: EndpointHints | None = None

    @property
    def is_ready(self) -> bool:
        """Report whether the endpoint is known to be ready (`EndpointReady`)."""
        return self.conditions.ready is True


class EndpointSlice(Struct, frozen=True, rename="camel"):
    """Some of the endpoints of a service."""

    metadata: ObjectMeta
    address_type: str = IPV4
    endpoints: tuple[Endpoint, ...] | None = None
    ports: tuple[EndpointPort, ...] | None = None


def service_of(endpoint_slice: EndpointSlice) -> tuple[str, ...]:
    """Return the namespace and the service of a slice in one text, for an index."""
    name = endpoint_slice.metadata.labels.get(SERVICE_NAME)
    return (f"{endpoint_slice.metadata.namespace}/{name}",) if name else ()
