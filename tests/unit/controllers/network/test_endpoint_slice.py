"""EndpointSlices of services (`k8s.io/endpointslice/reconciler_test.go`, `endpointslice_controller_test.go`)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from hydrofoil.controllers.network.endpoint_slice import EndpointSliceController
from tests.unit.controllers.network.cluster import (
    NODES,
    SERVICES,
    SLICES,
    add_node,
    add_pod,
    add_service,
    endpoints,
    set_status,
    slices,
)
from tests.unit.controllers.workloads.cluster import PODS, Cluster, controlled

ZONE = "topology.kubernetes.io/zone"


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([EndpointSliceController]) as found:
        await add_node(found)
        yield found


async def test_a_service_without_pods_has_an_empty_slice(cluster: Cluster) -> None:
    await add_service(cluster, labels={"team": "a"})
    (found,) = slices(cluster)
    assert found["addressType"] == "IPv4" and not found["endpoints"] and not found["ports"]
    assert found["metadata"]["labels"] == {
        "team": "a",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    (owner,) = found["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Service", "web", True)


async def test_it_becomes_that_of_the_first_pod(cluster: Cluster) -> None:
    await add_service(cluster)
    (before,) = slices(cluster)
    await add_pod(cluster, "p0", "10.1.0.1")
    (after,) = slices(cluster)
    assert after["metadata"]["name"] == before["metadata"]["name"]
    (endpoint,) = after["endpoints"]
    assert endpoint["conditions"] == {"ready": True, "serving": True, "terminating": False}
    assert endpoint["nodeName"] == "node-0" and after["ports"][0]["port"] == 8080
    await cluster.delete(PODS, "p0")
    (left,) = slices(cluster)
    assert left["metadata"]["name"] == before["metadata"]["name"] and not left["endpoints"]


async def test_a_pod_that_ends_serves_until_it_has_gone(cluster: Cluster) -> None:
    await add_service(cluster)
    await add_pod(cluster, "p0", "10.1.0.1")
    await cluster.patch(PODS, "p0", {"metadata": {"finalizers": ["example.com/wait"]}})
    await cluster.delete(PODS, "p0")
    (endpoint,) = slices(cluster)[0]["endpoints"]
    assert endpoint["conditions"] == {"ready": False, "serving": True, "terminating": True}


async def test_slices_have_room_for_so_many() -> None:
    async with controlled([lambda runtime: EndpointSliceController(runtime, 2)]) as cluster:
        await add_node(cluster)
        for number in range(5):
            await add_pod(cluster, f"p{number}", f"10.1.0.{number}")
        await add_service(cluster)
        assert sorted(len(one["endpoints"]) for one in slices(cluster)) == [1, 2, 2]
        await cluster.delete(PODS, "p0")
        assert endpoints(cluster) == ["p1", "p2", "p3", "p4"]


async def test_a_service_that_is_left_alone_has_none(cluster: Cluster) -> None:
    await add_service(cluster, annotations={"sim.hydrofoil/leave-alone": "true"})
    assert slices(cluster) == []


async def test_the_labels_of_the_service_are_those_of_its_slices(cluster: Cluster) -> None:
    await add_service(cluster, labels={"team": "a"})
    await add_pod(cluster, "p0", "10.1.0.1")
    await cluster.patch(SERVICES, "web", {"metadata": {"labels": {"team": None, "tier": "1"}}})
    (found,) = slices(cluster)
    assert found["metadata"]["labels"].get("tier") == "1" and "team" not in found["metadata"]["labels"]
    assert len(found["endpoints"]) == 1


async def test_pods_with_other_ports_are_in_another_slice(cluster: Cluster) -> None:
    await add_service(cluster)
    await add_pod(cluster, "p0", "10.1.0.1")
    containers = [{"name": "c", "image": "i", "ports": [{"name": "web", "containerPort": 9090}]}]
    await add_pod(cluster, "p1", "10.1.0.2", containers=containers)
    assert sorted(one["ports"][0]["port"] for one in slices(cluster)) == [8080, 9090]
    await cluster.delete(PODS, "p1")
    assert endpoints(cluster) == ["p0"] and len(slices(cluster)) == 1


async def test_two_families_are_two_slices(cluster: Cluster) -> None:
    await add_service(cluster, ipFamilies=["IPv4", "IPv6"])
    await add_pod(cluster, "p0", "10.1.0.1")
    by_type = {one["addressType"]: one["endpoints"] for one in slices(cluster)}
    assert len(by_type["IPv4"]) == 1 and not by_type["IPv6"]


async def test_what_others_change_is_mended_after_a_second(cluster: Cluster) -> None:
    await add_service(cluster)
    await add_pod(cluster, "p0", "10.1.0.1")
    (found,) = slices(cluster)
    name = found["metadata"]["name"]
    await cluster.patch(SLICES, name, {"endpoints": []})
    assert not slices(cluster)[0]["endpoints"]
    await cluster.advance(1)
    assert endpoints(cluster) == ["p0"]
    await cluster.delete(SLICES, name)
    await cluster.advance(1)
    assert endpoints(cluster) == ["p0"]


async def test_slices_of_others_are_left_alone(cluster: Cluster) -> None:
    labels = {"kubernetes.io/service-name": "web"}
    body = {"metadata": {"name": "mine", "labels": labels}, "addressType": "IPv4", "endpoints": [], "ports": []}
    await cluster.create(SLICES, body)
    await add_service(cluster)
    await add_pod(cluster, "p0", "10.1.0.1")
    assert not cluster.get(SLICES, "mine")["endpoints"] and len(slices(cluster)) == 2


async def test_a_pod_on_a_node_that_is_missing_waits_for_it(cluster: Cluster) -> None:
    await add_service(cluster)
    await add_pod(cluster, "p0", "10.1.0.1", node="late")
    assert endpoints(cluster) == []
    text = "skipping Pod p0 for Service a/web: Node late Not Found"
    assert cluster.events("Service") == [
        f"Warning FailedToUpdateEndpointSlices: Error updating Endpoint Slices for Service a/web: {text}"
    ]
    await add_node(cluster, "late", "z1")
    assert endpoints(cluster) == ["p0"] and slices(cluster)[0]["endpoints"][0]["zone"] == "z1"


async def test_hints_follow_the_traffic_distribution(cluster: Cluster) -> None:
    await add_node(cluster, "far", "z1")
    await add_service(cluster, trafficDistribution="PreferSameNode")
    await add_pod(cluster, "p0", "10.1.0.1", node="far")
    (endpoint,) = slices(cluster)[0]["endpoints"]
    assert endpoint["hints"] == {"forZones": [{"name": "z1"}], "forNodes": [{"name": "far"}]}
    await cluster.patch(SERVICES, "web", {"spec": {"trafficDistribution": "PreferClose"}})
    assert slices(cluster)[0]["endpoints"][0]["hints"] == {"forZones": [{"name": "z1"}]}
    await cluster.patch(SERVICES, "web", {"spec": {"trafficDistribution": None}})
    assert "hints" not in slices(cluster)[0]["endpoints"][0]


async def test_hints_by_topology_need_zones_and_enough_endpoints(cluster: Cluster) -> None:
    await cluster.delete(NODES, "node-0")
    for number in range(2):
        await add_node(cluster, f"n{number}", f"z{number}")
    await add_service(cluster)
    await cluster.patch(SERVICES, "web", {"metadata": {"annotations": {"service.kubernetes.io/topology-mode": "Auto"}}})
    await add_pod(cluster, "p0", "10.1.0.1", node="n0")
    assert "hints" not in slices(cluster)[0]["endpoints"][0]
    for number in range(1, 4):
        await add_pod(cluster, f"p{number}", f"10.1.0.{number + 1}", node="n0")
    zones = [one["hints"]["forZones"][0]["name"] for one in slices(cluster)[0]["endpoints"]]
    assert sorted(zones) == ["z0", "z0", "z1", "z1"], "half of the CPUs are in each zone"
    await cluster.patch(SERVICES, "web", {"metadata": {"annotations": {"service.kubernetes.io/topology-mode": None}}})
    assert all("hints" not in one for one in slices(cluster)[0]["endpoints"])
    reasons = [line.split(":")[0] for line in cluster.events("Service")]
    assert "Normal TopologyAwareHintsEnabled" in reasons and "Warning TopologyAwareHintsDisabled" in reasons


async def test_nothing_is_written_twice(cluster: Cluster) -> None:
    await add_service(cluster)
    await add_pod(cluster, "p0", "10.1.0.1")
    before = json.dumps(slices(cluster))
    await cluster.patch(PODS, "p0", {"metadata": {"annotations": {"a": "b"}}})
    await set_status(cluster, "p0", "10.1.0.1", ready=True)
    await cluster.advance(5)
    assert json.dumps(slices(cluster)) == before
