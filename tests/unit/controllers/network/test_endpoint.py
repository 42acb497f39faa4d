"""Endpoints of services (`pkg/controller/endpoint/endpoints_controller_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hydrofoil.controllers.network.endpoint import EndpointController
from hydrofoil.errors import ApiError
from tests.unit.controllers.network.cluster import ENDPOINTS, SERVICES, add_pod, add_service, set_status
from tests.unit.controllers.workloads.cluster import PODS, Cluster, controlled
from tests.unit.parts import resource


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([EndpointController]) as found:
        yield found


async def test_endpoints_follow_pods(cluster: Cluster) -> None:
    await add_service(cluster, labels={"team": "a"})
    found = cluster.get(ENDPOINTS, "web")
    assert found["metadata"]["labels"] == {"team": "a", "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    assert "subsets" not in found
    await add_pod(cluster, "p0", "10.1.0.1")
    await add_pod(cluster, "p1", "10.1.0.2", ready=False)
    (subset,) = cluster.get(ENDPOINTS, "web")["subsets"]
    assert [one["targetRef"]["name"] for one in subset["addresses"]] == ["p0"]
    assert [one["ip"] for one in subset["notReadyAddresses"]] == ["10.1.0.2"]
    assert subset["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    await set_status(cluster, "p1", "10.1.0.2", ready=False, phase="Failed")
    await cluster.delete(PODS, "p0")
    assert "subsets" not in cluster.get(ENDPOINTS, "web")


async def test_nothing_is_written_for_what_does_not_count(cluster: Cluster) -> None:
    await add_service(cluster)
    await add_pod(cluster, "p0", "10.1.0.1")
    version = cluster.get(ENDPOINTS, "web")["metadata"]["resourceVersion"]
    await cluster.patch(PODS, "p0", {"metadata": {"annotations": {"a": "b"}}})
    await cluster.patch(SERVICES, "web", {"metadata": {"annotations": {"a": "b"}}})
    assert cluster.get(ENDPOINTS, "web")["metadata"]["resourceVersion"] == version


async def test_labels_and_selector_of_the_service_count(cluster: Cluster) -> None:
    await add_service(cluster)
    await add_pod(cluster, "p0", "10.1.0.1")
    await cluster.patch(SERVICES, "web", {"metadata": {"labels": {"team": "b"}}, "spec": {"selector": {"app": "x"}}})
    found = cluster.get(ENDPOINTS, "web")
    assert found["metadata"]["labels"]["team"] == "b" and "subsets" not in found
    await cluster.patch(PODS, "p0", {"metadata": {"labels": {"app": "x"}}})
    assert len(cluster.get(ENDPOINTS, "web")["subsets"]) == 1


async def test_services_that_select_nothing_have_none(cluster: Cluster) -> None:
    await add_service(cluster, "manual", selector=None)
    await add_service(cluster, "outside", type="ExternalName", externalName="example.com", clusterIP=None)
    assert not cluster.all(ENDPOINTS)


async def test_endpoints_go_with_their_service_and_come_back(cluster: Cluster) -> None:
    await add_service(cluster)
    await cluster.delete(ENDPOINTS, "web")
    assert cluster.get(ENDPOINTS, "web")
    await cluster.delete(SERVICES, "web")
    with pytest.raises(ApiError, match="not found"):
        cluster.get(ENDPOINTS, "web")


async def test_endpoints_of_others_stay(cluster: Cluster) -> None:
    """Upstream looks for those without a service at its start alone."""
    await cluster.create(ENDPOINTS, {"metadata": {"name": "mine"}})
    assert cluster.get(ENDPOINTS, "mine")


async def test_those_without_a_service_go_at_the_start_but_not_a_lock() -> None:
    async with controlled([]) as cluster:
        await cluster.create(ENDPOINTS, {"metadata": {"name": "left"}})
        lock = {"control-plane.alpha.kubernetes.io/leader": "{}"}
        await cluster.create(ENDPOINTS, {"metadata": {"name": "lock", "annotations": lock}})
        controller = EndpointController(cluster.runtime)
        controller.start()
        await cluster.runtime.idle()
        assert [one["metadata"]["name"] for one in cluster.all(ENDPOINTS)] == ["lock"]
        await controller.stop()


async def test_a_headless_service_may_have_no_ports(cluster: Cluster) -> None:
    await add_service(cluster, clusterIP="None", ports=None, publishNotReadyAddresses=True)
    await add_pod(cluster, "p0", "10.1.0.1", ready=False, hostname="first", subdomain="web")
    found = cluster.get(ENDPOINTS, "web")
    assert found["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
    (address,) = found["subsets"][0]["addresses"]
    assert address["hostname"] == "first" and "ports" not in found["subsets"][0]


async def test_many_pods_are_cut_to_a_thousand(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hydrofoil.controllers.network.endpoint.CAPACITY", 2)
    await add_service(cluster)
    for number in range(3):
        await add_pod(cluster, f"p{number}", f"10.1.0.{number}")
    found = cluster.get(ENDPOINTS, "web")
    assert len(found["subsets"][0]["addresses"]) == 2
    assert found["metadata"]["annotations"]["endpoints.kubernetes.io/over-capacity"] == "truncated"
    await cluster.delete(PODS, "p2")
    assert "annotations" not in cluster.get(ENDPOINTS, "web")["metadata"]


async def test_what_a_test_plays_itself_is_left_alone(cluster: Cluster) -> None:
    mark = {"sim.hydrofoil/leave-alone": "true"}
    await cluster.create(resource("namespaces"), {"metadata": {"name": "a", "annotations": mark}})
    await add_service(cluster)
    assert not cluster.all(ENDPOINTS)
