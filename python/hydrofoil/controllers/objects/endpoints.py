"""Endpoints (`staging/src/k8s.io/api/core/v1`, Endpoints)."""

from __future__ import annotations

from msgspec import Struct

from hydrofoil.controllers.objects.meta import ObjectMeta


class ObjectReference(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A reference to any object."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""
    field_path: str = ""


class EndpointAddress(Struct, frozen=True, rename="camel", omit_defaults=True):
    """An address that traffic goes to."""

    ip: str
    hostname: str = ""
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class SubsetPort(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A port of all addresses of a subset (EndpointPort)."""

    name: str = ""
    port: int = 0
    protocol: str = ""
    app_protocol: str | None = None


class EndpointSubset(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Addresses with ports in common."""

    addresses: tuple[EndpointAddress, ...] | None = None
    not_ready_addresses: tuple[EndpointAddress, ...] | None = None
    ports: tuple[SubsetPort, ...] | None = None

    @property
    def count(self) -> int:
        """Return the number of addresses."""
        return len(self.addresses or ()) + len(self.not_ready_addresses or ())


class Endpoints(Struct, frozen=True):
    """The endpoints of the service of the same name."""

    metadata: ObjectMeta
    subsets: tuple[EndpointSubset, ...] | None = None
