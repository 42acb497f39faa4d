"""Addresses of services (kube-aggregator `pkg/apiserver`, apiserver `pkg/util/proxy`).

There is no cluster network: a service is reached at its address in `--service-endpoints`, else at a ready endpoint of
its slices (as upstream does with `--enable-aggregator-routing`), and one of type ExternalName by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Selector
from hydrofoil.outbound.trust import Unreachable
from hydrofoil.storage.collection import Collection

SERVICE_NAME = "kubernetes.io/service-name"
Object = dict[str, Any]


class Services:
    """The addresses of services.

    `find` returns a built-in resource by group, version and plural; `collection` its objects; `endpoints` maps
    `namespace/name` to `host:port`.
    """

    def __init__(
        self,
        find: Callable[[str, str, str], Resource | None],
        collection: Callable[[Resource], Collection],
        endpoints: Mapping[str, str],
    ) -> None:
        self._find = find
        self._collection = collection
        self._endpoints = endpoints

    def named(self, namespace: str, name: str) -> bool:
        """Report whether a flag has the address of a service: then its objects need not exist."""
        return f"{namespace}/{name}" in self._endpoints

    def object(self, namespace: str, name: str) -> Object | None:
        """Return the Service object."""
        resource = self._find("", "v1", "services")
        if resource is None:
            return None
        found = self._collection(resource).get(resource.native, namespace, name)
        return None if found is None else orjson.loads(found.json)

    def slices(self, namespace: str, name: str) -> list[Object]:
        """Return the endpoint slices of a service."""
        resource = self._find("discovery.k8s.io", "v1", "endpointslices")
        if resource is None:
            return []
        chosen = Selector(resource.native, namespace, f"{SERVICE_NAME}={name}", "")
        cursor = self._collection(resource).list(resource.native, chosen, "json", 0, 0, "")
        return [orjson.loads(s.json) for s in cursor.versions(2**31)]

    def locate(self, namespace: str, name: str, number: int) -> str:
        """Return `host:port` of a port of a service. Raise Unreachable."""
        if (found := self._endpoints.get(f"{namespace}/{name}")) is not None:
            return found
        body = self.object(namespace, name)
        if body is None:
            raise Unreachable(f'service "{name}" not found')
        spec = body.get("spec", {})
        if spec.get("type") == "ExternalName":
            return address(spec.get("externalName", ""), number)
        port = next((p for p in spec.get("ports") or () if p.get("port") == number), None)
        if port is None:
            raise Unreachable(f'no service port {number} found for service "{name}"')
        for found_slice in self.slices(namespace, name):
            target = port_number(found_slice, port.get("name", ""))
            host = next((a for e in ready(found_slice) for a in e.get("addresses") or ()), None)
            if target is not None and host is not None:
                return address(host, target)
        raise Unreachable(f'no endpoints available for service "{name}"')


def address(host: str, port: int) -> str:
    """Return `host:port`, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def ready(found: Object) -> list[Object]:
    """Return the ready endpoints of a slice."""
    return [e for e in found.get("endpoints") or () if e.get("conditions", {}).get("ready", True)]


def port_number(found: Object, name: str) -> int | None:
    """Return the number of a named port in a slice."""
    ports = found.get("ports") or ()
    return next((p["port"] for p in ports if p.get("name", "") == name and p.get("port") is not None), None)
