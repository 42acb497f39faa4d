"""API services, read from their objects (kube-aggregator `pkg/apis/apiregistration`)."""

from __future__ import annotations

import base64
from typing import Any

from msgspec import Struct

GROUP = "apiregistration.k8s.io"
OWN_PRIORITY = 20_000
"""The priority of the group of API services, the first in aggregated discovery."""
CUSTOM_PRIORITY = (1000, 100)
"""Group and version priority of custom resource definitions (`crdregistration_controller.go`)."""


class Service(Struct, frozen=True):
    """The service behind a group version that this server does not serve itself."""

    namespace: str
    name: str
    port: int
    ca: bytes
    """PEM certificates; empty for the system roots."""
    insecure: bool

    @property
    def host(self) -> str:
        """Return the name that its certificate must have."""
        return f"{self.name}.{self.namespace}.svc"


class Registration(Struct, frozen=True):
    """One API service."""

    name: str
    group: str
    version: str
    group_priority: int
    version_priority: int
    service: Service | None
    available: bool

    @property
    def path(self) -> str:
        """Return the path of its discovery document, the prefix of all its other paths."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


def registration(body: dict[str, Any]) -> Registration:
    """Read an APIService."""
    spec = body.get("spec", {})
    service = None
    if (given := spec.get("service")) is not None:
        service = Service(
            given.get("namespace", ""),
            given.get("name", ""),
            given.get("port", 443),
            base64.b64decode(spec.get("caBundle") or ""),
            spec.get("insecureSkipTLSVerify", False),
        )
    conditions = body.get("status", {}).get("conditions") or ()
    available = any(c["type"] == "Available" and c["status"] == "True" for c in conditions)
    group, version = spec.get("group", ""), spec.get("version", "")
    priorities = spec.get("groupPriorityMinimum", 0), spec.get("versionPriority", 0)
    return Registration(body["metadata"]["name"], group, version, *priorities, service, available)
