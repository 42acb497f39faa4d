"""Slices of Endpoints that users write (`pkg/controller/endpointslicemirroring/reconciler_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.controllers.network.endpoint_slice_mirroring import EndpointSliceMirroringController
from hydrofoil.controllers.network.mirrored_slices import DesiredEndpoints
from hydrofoil.controllers.objects.endpoints import EndpointAddress, Endpoints, EndpointSubset
from hydrofoil.controllers.objects.meta import ObjectMeta
from tests.unit.controllers.network.cluster import ENDPOINTS, SERVICES, add_service, slices
from tests.unit.controllers.workloads.cluster import Cluster, controlled

SUBSETS = [{"addresses": [{"ip": "192.0.2.1"}], "notReadyAddresses": [{"ip": "192.0.2.2"}], "ports": [{"port": 80}]}]


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([EndpointSliceMirroringController]) as found:
        await add_service(found, selector=None)
        yield found


async def add_endpoints(cluster: Cluster, subsets: list[Any] = SUBSETS, **metadata: Any) -> None:
    """Create the Endpoints of the service."""
    await cluster.create(ENDPOINTS, {"metadata": {"name": "web", **metadata}, "subsets": subsets})


async def test_endpoints_are_mirrored(cluster: Cluster) -> None:
    time = "endpoints.kubernetes.io/last-change-trigger-time"
    await add_endpoints(cluster, labels={"mine": "yes"}, annotations={"a": "b", time: "2026-01-01T00:00:00Z"})
    (found,) = slices(cluster)
    states = {one["addresses"][0]: one["conditions"]["ready"] for one in found["endpoints"]}
    assert states == {"192.0.2.1": True, "192.0.2.2": False}
    assert found["metadata"]["annotations"] == {"a": "b"} and found["metadata"]["labels"]["mine"] == "yes"
    assert found["metadata"]["ownerReferences"][0]["kind"] == "Endpoints"


async def test_each_family_is_a_slice_and_changes_are_made_in_place(cluster: Cluster) -> None:
    await add_endpoints(cluster, [{"addresses": [{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}], "ports": [{"port": 80}]}])
    before = {one["addressType"]: one["metadata"]["name"] for one in slices(cluster)}
    assert before.keys() == {"IPv4", "IPv6"}
    await cluster.patch(ENDPOINTS, "web", {"subsets": [{"addresses": [{"ip": "192.0.2.9"}], "ports": [{"port": 81}]}]})
    (found,) = slices(cluster)
    assert found["metadata"]["name"] == before["IPv4"]
    assert found["ports"][0]["port"] == 81 and found["endpoints"][0]["addresses"] == ["192.0.2.9"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
        {"annotations": {"control-plane.alpha.kubernetes.io/leader": "{}"}},
    ],
)
async def test_some_are_not_mirrored(cluster: Cluster, metadata: dict[str, Any]) -> None:
    await add_endpoints(cluster)
    await cluster.patch(ENDPOINTS, "web", {"metadata": metadata})
    assert not slices(cluster)


async def test_the_mirror_goes_with_the_selector_of_the_service_and_with_the_endpoints(cluster: Cluster) -> None:
    await add_endpoints(cluster)
    await cluster.patch(SERVICES, "web", {"spec": {"selector": {"app": "web"}}})
    assert not slices(cluster)
    await cluster.patch(SERVICES, "web", {"spec": {"selector": None}})
    assert len(slices(cluster)) == 1
    await cluster.delete(ENDPOINTS, "web")
    assert not slices(cluster)


async def test_endpoints_made_anew_have_new_slices(cluster: Cluster) -> None:
    await add_endpoints(cluster)
    (before,) = slices(cluster)
    await cluster.delete(ENDPOINTS, "web")
    await add_endpoints(cluster)
    (after,) = slices(cluster)
    assert before["metadata"]["ownerReferences"][0]["uid"] != after["metadata"]["ownerReferences"][0]["uid"]


def test_too_many_and_wrong_addresses_are_counted() -> None:
    addresses = tuple(map(EndpointAddress, ("192.0.2.1", "192.0.2.2", "192.0.2.3", "0-none")))
    found = DesiredEndpoints(Endpoints(ObjectMeta("web"), (EndpointSubset(addresses),)), 2)
    assert (found.invalid, found.skipped) == (1, 2)


async def test_addresses_that_are_left_out_are_said() -> None:
    async with controlled([lambda runtime: EndpointSliceMirroringController(runtime, 2)]) as cluster:
        await add_service(cluster, selector=None)
        addresses = [{"ip": f"192.0.2.{number}"} for number in range(5)]
        await add_endpoints(cluster, [{"addresses": addresses, "ports": [{"port": 80}]}])
        assert len(slices(cluster)[0]["endpoints"]) == 2
        text = "A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 3 addresses were skipped"
        assert cluster.events("Endpoints") == [f"Warning TooManyAddressesToMirror: {text}"]
