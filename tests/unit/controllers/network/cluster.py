"""Services and pods of the tests of endpoints."""

from __future__ import annotations

from typing import Any

from tests.unit.controllers.workloads.cluster import PODS, Cluster
from tests.unit.parts import Object, resource

SERVICES, ENDPOINTS = resource("services"), resource("endpoints")
SLICES = resource("endpointslices", "discovery.k8s.io")
NODES = resource("nodes")
PORTS = [{"name": "http", "port": 80, "targetPort": "web", "protocol": "TCP"}]


async def add_service(
    cluster: Cluster,
    name: str = "web",
    *,
    labels: Object | None = None,
    annotations: Object | None = None,
    **spec: Any,
) -> None:
    """Create a service that selects pods by their label `app`."""
    spec = {"clusterIP": "10.0.0.1", "ipFamilies": ["IPv4"], "selector": {"app": name}, "ports": PORTS, **spec}
    if spec["clusterIP"] is not None:
        # What the strategy of a server allocates.
        families, first = spec["ipFamilies"], spec["clusterIP"]
        spec["clusterIPs"] = [first, "2001:db8::1"][: 1 if first == "None" else len(families)]
        spec["ipFamilyPolicy"] = "RequireDualStack" if len(families) > 1 else "SingleStack"
    else:
        spec["ipFamilies"] = None
    spec = {name: value for name, value in spec.items() if value is not None}
    metadata = {"name": name, "labels": labels or {}, "annotations": annotations or {}}
    await cluster.create(SERVICES, {"metadata": metadata, "spec": spec})


async def add_pod(
    cluster: Cluster, name: str, ip: str, *, app: str = "web", node: str = "node-0", ready: bool = True, **spec: Any
) -> None:
    """Create a pod that runs."""
    containers = [{"name": "c", "image": "i", "ports": [{"name": "web", "containerPort": 8080}]}]
    metadata = {"name": name, "labels": {"app": app}}
    await cluster.create(PODS, {"metadata": metadata, "spec": {"containers": containers, "nodeName": node, **spec}})
    await set_status(cluster, name, ip, ready=ready)


async def set_status(cluster: Cluster, name: str, ip: str, *, ready: bool, phase: str = "Running") -> None:
    """Set the address of a pod, and whether it is ready."""
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": cluster.clock.text()}
    status = {"phase": phase, "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [condition]}
    await cluster.patch(PODS, name, {"status": status}, "status")


async def add_node(cluster: Cluster, name: str = "node-0", zone: str = "") -> None:
    """Create a node with 4 CPU that is ready, in a zone."""
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    await cluster.create(NODES, {"metadata": {"name": name, "labels": labels}})
    status = {"allocatable": {"cpu": "4"}, "conditions": [{"type": "Ready", "status": "True"}]}
    await cluster.patch(NODES, name, {"status": status}, "status")


def slices(cluster: Cluster) -> list[Object]:
    """Return all slices, by their names."""
    return cluster.all(SLICES)


def endpoints(cluster: Cluster) -> list[str]:
    """Return the names of the pods in all slices, in order."""
    return sorted(one["targetRef"]["name"] for found in slices(cluster) for one in found["endpoints"] or ())
