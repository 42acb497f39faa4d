"""The records of cluster IPs (IPAddress), networks of ServiceCIDR objects, and endpoints of deleted services."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from hydrofoil.clock import Clock
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.calls import get, post
from tests.api.cluster_ips import SERVICES, created, patched, service
from tests.api.custom import until

RECORDS = "/apis/networking.k8s.io/v1/ipaddresses"
NETWORKS = "/apis/networking.k8s.io/v1/servicecidrs"


async def records(api: aiohttp.ClientSession) -> dict[str, str]:
    """Return the recorded addresses, and the services that have them."""
    items = (await get(api, RECORDS))["items"]
    return {item["metadata"]["name"]: item["spec"]["parentRef"]["name"] for item in items}


async def deleted(api: aiohttp.ClientSession, path: str) -> None:
    async with api.delete(path) as r:
        assert r.status == 200


@pytest.fixture
async def running() -> AsyncIterator[Server]:
    server = Server(Config(port=0, controllers="", service_cluster_ip_range="10.0.0.0/24,fd00::/112"), clock=Clock())
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def api(running: Server) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(running.url, headers={"Content-Type": "application/json"}) as session:
        yield session


async def test_an_address_is_recorded_as_long_as_a_service_has_it(api: aiohttp.ClientSession) -> None:
    assert await records(api) == {"10.0.0.1": "kubernetes"}
    assert (await created(api, "a", ipFamilyPolicy="RequireDualStack", clusterIP="10.0.0.9"))[0] == 201
    found = await get(api, f"{RECORDS}/10.0.0.9")
    assert found["metadata"]["labels"] == {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    }
    assert found["metadata"]["managedFields"][0]["manager"] == "kube-apiserver"
    assert found["spec"] == {"parentRef": {"resource": "services", "namespace": "default", "name": "a"}}
    assert sorted((await records(api)).values()) == ["a", "a", "kubernetes"]
    assert (await patched(api, "a", {"ipFamilyPolicy": "SingleStack"}))[0] == 200
    assert await records(api) == {"10.0.0.1": "kubernetes", "10.0.0.9": "a"}
    assert (await patched(api, "a", {"type": "ExternalName", "externalName": "e.com"}))[0] == 200
    assert await records(api) == {"10.0.0.1": "kubernetes"}
    assert (await patched(api, "a", {"type": "ClusterIP", "clusterIP": "10.0.0.8"}))[0] == 200
    assert await records(api) == {"10.0.0.1": "kubernetes", "10.0.0.8": "a"}
    await deleted(api, f"{SERVICES}/a")
    assert await records(api) == {"10.0.0.1": "kubernetes"}


async def test_a_write_that_fails_records_nothing(api: aiohttp.ClientSession) -> None:
    assert (await created(api, "a"))[0] == 201
    before = await records(api)
    assert (await created(api, "a"))[0] == 409
    assert (await created(api, "b", type="NodePort", ports=[{"port": 80, "nodePort": 1}]))[0] == 422
    async with api.post(f"{SERVICES}?dryRun=All", json=service("b")) as r:
        # The address that stands for a free one.
        assert (r.status, (await r.json())["spec"]["clusterIP"]) == (201, "10.0.0.0")
    assert await records(api) == before


async def test_an_object_of_anyone_takes_an_address(api: aiohttp.ClientSession) -> None:
    parent = {"resource": "others", "name": "x"}
    await post(api, RECORDS, {"metadata": {"name": "10.0.0.9"}, "spec": {"parentRef": parent}})
    code, refused = await created(api, "a", clusterIP="10.0.0.9")
    assert code == 422
    assert refused["message"].endswith("failed to allocate IP 10.0.0.9: provided IP is already allocated")


async def test_endpoints_go_with_their_service(api: aiohttp.ClientSession) -> None:
    assert (await created(api, "a"))[0] == 201
    await post(api, "/api/v1/namespaces/default/endpoints", {"metadata": {"name": "a"}})
    await post(api, "/api/v1/namespaces/default/endpoints", {"metadata": {"name": "b"}})
    await deleted(api, f"{SERVICES}/a")
    names = [e["metadata"]["name"] for e in (await get(api, "/api/v1/namespaces/default/endpoints"))["items"]]
    assert names == ["b", "kubernetes"]


async def test_networks_of_objects_count_while_they_are_ready(api: aiohttp.ClientSession) -> None:
    assert (await created(api, "a", clusterIP="10.9.0.3"))[0] == 422
    await post(api, NETWORKS, {"metadata": {"name": "more"}, "spec": {"cidrs": ["10.9.0.0/29"]}})
    assert (await created(api, "a", clusterIP="10.9.0.3"))[0] == 201
    status = {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "x", "message": "", **TIME}]}}
    headers = {"Content-Type": "application/merge-patch+json"}
    async with api.patch(f"{NETWORKS}/more/status", json=status, headers=headers) as r:
        assert r.status == 200, await r.text()
    assert (await created(api, "b", clusterIP="10.9.0.4"))[0] == 422
    status["status"]["conditions"][0]["status"] = "True"
    async with api.patch(f"{NETWORKS}/more/status", json=status, headers=headers) as r:
        assert r.status == 200
    assert (await created(api, "b", clusterIP="10.9.0.4"))[0] == 201


TIME = {"lastTransitionTime": "2026-01-01T00:00:00Z"}


async def test_the_next_network_is_drawn_from_when_the_first_is_full() -> None:
    server = Server(Config(port=0, controllers="", service_cluster_ip_range="10.0.0.0/29"))
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as api:
        await post(api, NETWORKS, {"metadata": {"name": "more"}, "spec": {"cidrs": ["10.9.0.0/29"]}})
        found = [(await created(api, f"s{i}"))[1]["spec"]["clusterIP"] for i in range(11)]
        assert sorted(found) == [f"10.0.0.{n}" for n in range(2, 7)] + [f"10.9.0.{n}" for n in range(1, 7)]
        assert (await created(api, "last"))[0] == 500
    await server.stop()


async def test_addresses_at_the_beginning_are_the_last_to_be_drawn(api: aiohttp.ClientSession) -> None:
    """A client that asks for an address finds one there that no other service was given by chance (KEP-3070)."""
    found = [(await created(api, f"s{i}"))[1]["spec"]["clusterIP"] for i in range(100)]
    assert min(int(ipaddress.ip_address(ip)) & 255 for ip in found) > 16


async def test_lost_records_are_made_again(api: aiohttp.ClientSession) -> None:
    assert (await created(api, "a", clusterIP="10.0.0.9"))[0] == 201
    await deleted(api, f"{RECORDS}/10.0.0.9")
    assert (await patched(api, "a", {"sessionAffinity": "ClientIP"}))[0] == 200

    async def there() -> bool:
        return (await records(api)).get("10.0.0.9") == "a"

    await until(there)


async def test_records_without_a_service_are_deleted_after_a_while(
    running: Server, api: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hydrofoil.controllers.addresses.SOON", 0.01)
    labels = {"ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}
    for address, own in (("10.0.0.9", labels), ("10.0.0.8", {})):
        parent = {"resource": "services", "namespace": "default", "name": "gone"}
        body: dict[str, Any] = {"metadata": {"name": address, "labels": own}, "spec": {"parentRef": parent}}
        await post(api, RECORDS, body)
    for _ in range(10):
        await asyncio.sleep(0.01)
    assert set(await records(api)) == {"10.0.0.1", "10.0.0.8", "10.0.0.9"}
    running._clock.advance(61 * 10**9)

    async def collected() -> bool:
        return set(await records(api)) == {"10.0.0.1", "10.0.0.8"}

    await until(collected)
