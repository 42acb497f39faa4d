"""Services (`staging/src/k8s.io/api/core/v1`, Service)."""

from __future__ import annotations

from msgspec import Struct, field

from hydrofoil.controllers.objects.meta import ObjectMeta

EXTERNAL_NAME = "ExternalName"
HEADLESS = "None"
"""The cluster IP of a service that has none."""


class ServicePort(Struct, frozen=True, rename="camel"):
    """A port of a service."""

    port: int
    name: str = ""
    protocol: str = "TCP"
    app_protocol: str | None = None
    target_port: int | str = 0


class ServiceSpec(Struct, frozen=True, rename="camel"):
    """What a service asks for."""

    type: str = ""
    selector: dict[str, str] | None = None
    """None: its endpoints are made by somebody else."""
    ports: tuple[ServicePort, ...] = ()
    cluster_ip: str = field(name="clusterIP", default="")
    ip_families: tuple[str, ...] = ()
    publish_not_ready_addresses: bool = False
    traffic_distribution: str | None = None


class Service(Struct, frozen=True):
    """A service."""

    metadata: ObjectMeta
    spec: ServiceSpec = ServiceSpec()

    @property
    def has_ip(self) -> bool:
        """Report whether the service has a cluster IP (`IsServiceIPSet`)."""
        return self.spec.cluster_ip not in ("", HEADLESS)


def namespace_of(service: Service) -> tuple[str, ...]:
    """Return the namespace of a service, for an index."""
    return (service.metadata.namespace,)
