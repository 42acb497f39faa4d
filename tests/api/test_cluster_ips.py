"""`--service-cluster-ip-range` in its forms, and services of one and of two families (`service/storage/alloc.go`)."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.cluster_ips import SERVICES, Object, created, patched, service


@pytest.mark.parametrize(
    ("ranges", "address", "family"),
    [
        ("192.168.7.0/24", "192.168.7.1", "IPv4"),
        ("10.96.0.0/12", "10.96.0.1", "IPv4"),
        ("10.0.0.0/29", "10.0.0.1", "IPv4"),
        ("fd00::/112", "fd00::1", "IPv6"),
        ("fd00::/64", "fd00::1", "IPv6"),
        ("10.0.0.0/24,fd00::/112", "10.0.0.1", "IPv4"),
        ("fd00::/112,10.0.0.0/24", "fd00::1", "IPv6"),
    ],
)
async def test_what_is_there_from_the_start(ranges: str, address: str, family: str) -> None:
    server = Server(Config(port=0, controllers="", service_cluster_ip_range=ranges))
    await server.start()
    async with aiohttp.ClientSession(server.url) as api:
        async with api.get(f"{SERVICES}/kubernetes") as r:
            spec = (await r.json())["spec"]
        assert (spec["clusterIP"], spec["clusterIPs"], spec["ipFamilies"]) == (address, [address], [family])
        assert spec["ipFamilyPolicy"] == "SingleStack"
        async with api.get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes") as r:
            assert (await r.json())["spec"] == {"cidrs": ranges.split(",")}
        async with api.get(f"/apis/networking.k8s.io/v1/ipaddresses/{address}") as r:
            assert (await r.json())["metadata"]["labels"]["ipaddress.kubernetes.io/ip-family"] == family
        async with api.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes") as r:
            found = await r.json()
        assert found["addressType"] == family
        assert all(f"IPv{ipaddress.ip_address(a).version}" == family for a in found["endpoints"][0]["addresses"])
        code, made = await created(api, "a")
        assert code == 201
        assert ipaddress.ip_address(made["spec"]["clusterIP"]) in ipaddress.ip_network(ranges.partition(",")[0])
    await server.stop()


@pytest.fixture
async def dual() -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a cluster of both families."""
    server = Server(Config(port=0, controllers="", service_cluster_ip_range="10.0.0.0/24,fd00::/112"))
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as session:
        yield session
    await server.stop()


def networks(spec: Object) -> list[str]:
    """Return the families of the addresses, which lie in the ranges of the cluster."""
    for ip in spec["clusterIPs"]:
        assert ipaddress.ip_address(ip) in ipaddress.ip_network("fd00::/112" if ":" in ip else "10.0.0.0/24")
    assert spec["clusterIP"] == spec["clusterIPs"][0]
    return ["IPv6" if ":" in ip else "IPv4" for ip in spec["clusterIPs"]]


@pytest.mark.parametrize(
    ("given", "policy", "families"),
    [
        ({}, "SingleStack", ["IPv4"]),
        ({"ipFamilies": ["IPv6"]}, "SingleStack", ["IPv6"]),
        ({"clusterIP": "fd00::9"}, "SingleStack", ["IPv6"]),
        ({"ipFamilyPolicy": "PreferDualStack"}, "PreferDualStack", ["IPv4", "IPv6"]),
        ({"ipFamilyPolicy": "RequireDualStack"}, "RequireDualStack", ["IPv4", "IPv6"]),
        ({"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv6"]}, "RequireDualStack", ["IPv6", "IPv4"]),
        ({"ipFamilyPolicy": "PreferDualStack", "clusterIP": "fd00::8"}, "PreferDualStack", ["IPv6", "IPv4"]),
        (
            {"ipFamilyPolicy": "RequireDualStack", "clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7", "fd00::7"]},
            "RequireDualStack",
            ["IPv4", "IPv6"],
        ),
    ],
)
async def test_new_services(dual: aiohttp.ClientSession, given: Object, policy: str, families: list[str]) -> None:
    code, made = await created(dual, "a", **given)
    assert code == 201, made
    spec = made["spec"]
    assert (spec["ipFamilyPolicy"], spec["ipFamilies"], networks(spec)) == (policy, families, families)


async def test_headless_services(dual: aiohttp.ClientSession) -> None:
    for name, given, families in (
        ("a", {}, ["IPv4", "IPv6"]),
        ("b", {"selector": {"a": "b"}}, ["IPv4"]),
        ("c", {"selector": {"a": "b"}, "ipFamilyPolicy": "PreferDualStack"}, ["IPv4", "IPv6"]),
    ):
        code, made = await created(dual, name, clusterIP="None", **given)
        assert code == 201
        assert (made["spec"]["clusterIPs"], made["spec"]["ipFamilies"]) == (["None"], families)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"ipFamilies": ["IPv4", "IPv6"]},
            'spec.ipFamilyPolicy: Invalid value: "SingleStack": '
            "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
        ),
        (
            {"clusterIP": "10.9.9.9"},
            'spec.clusterIPs: Invalid value: ["10.9.9.9"]: failed to allocate IP 10.9.9.9: '
            "the provided network does not match the current range",
        ),
        (
            {"clusterIP": "10.0.0.1"},
            'spec.clusterIPs: Invalid value: ["10.0.0.1"]: failed to allocate IP 10.0.0.1: '
            "provided IP is already allocated",
        ),
    ],
)
async def test_refusals(dual: aiohttp.ClientSession, given: Object, words: str) -> None:
    code, made = await created(dual, "a", **given)
    assert code == 422
    assert made["message"] == f'Service "a" is invalid: {words}'


async def test_a_second_address_comes_and_goes(dual: aiohttp.ClientSession) -> None:
    assert (await created(dual, "a", clusterIP="10.0.0.9"))[0] == 201
    code, up = await patched(dual, "a", {"ipFamilyPolicy": "RequireDualStack"})
    assert (code, networks(up["spec"]), up["spec"]["ipFamilies"]) == (200, ["IPv4", "IPv6"], ["IPv4", "IPv6"])
    first, second = up["spec"]["clusterIPs"]
    assert first == "10.0.0.9"
    assert (await created(dual, "b", clusterIP=second))[0] == 422
    code, down = await patched(dual, "a", {"ipFamilyPolicy": "SingleStack"})
    assert (code, down["spec"]["clusterIPs"], down["spec"]["ipFamilies"]) == (200, [first], ["IPv4"])
    assert (await created(dual, "b", clusterIP=second))[0] == 201


async def test_the_second_address_goes_with_its_policy_only(dual: aiohttp.ClientSession) -> None:
    _, made = await created(dual, "a", ipFamilyPolicy="PreferDualStack")
    code, answer = await patched(dual, "a", {"clusterIPs": made["spec"]["clusterIPs"][:1]})
    assert code == 422
    words = "must be 'SingleStack' to release the secondary cluster IP"
    assert answer["message"] == (
        f'Service "a" is invalid: spec.ipFamilyPolicy: Invalid value: "PreferDualStack": {words}'
    )
    code, left = await patched(dual, "a", {"type": "ExternalName", "externalName": "e.com"})
    assert code == 200
    assert "clusterIPs" not in left["spec"]
    for i, ip in enumerate(made["spec"]["clusterIPs"]):
        assert (await created(dual, f"s{i}", clusterIP=ip))[0] == 201


async def test_a_dry_run_takes_nothing_from_others(dual: aiohttp.ClientSession) -> None:
    assert (await created(dual, "a", clusterIP="10.0.0.9"))[0] == 201
    async with dual.post(f"{SERVICES}?dryRun=All", json=service("b", clusterIP="10.0.0.9")) as r:
        assert r.status == 201
    assert (await created(dual, "b", clusterIP="10.0.0.9"))[0] == 422


async def test_a_full_range_is_told() -> None:
    server = Server(Config(port=0, controllers="", service_cluster_ip_range="10.0.0.0/29"))
    await server.start()
    async with aiohttp.ClientSession(server.url) as api:
        for i in range(5):
            assert (await created(api, f"s{i}"))[0] == 201
        code, answer = await created(api, "last")
        assert (code, answer["message"]) == (
            500,
            'Internal error occurred: failed to allocate a serviceIP for Service "last": range is full',
        )
    await server.stop()
