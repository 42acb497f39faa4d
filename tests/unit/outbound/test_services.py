"""Where services are."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hydrofoil.outbound.services import Services, address, port_number, ready
from hydrofoil.outbound.trust import Unreachable
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from tests.unit.parts import Object, draft, opened, resource

SLICE: Object = {
    "metadata": {"name": "s-1", "namespace": "a", "labels": {"kubernetes.io/service-name": "s"}},
    "addressType": "IPv4",
    "ports": [{"name": "https", "port": 8443}],
    "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": False}}, {"addresses": ["10.0.0.2"]}],
}


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    async with opened() as found:
        yield found


def services(registry: Registry, **endpoints: str) -> Services:
    """The services of a registry."""
    return Services(registry.catalog.find, registry.collection, {"a/given": "127.0.0.1:1", **endpoints})


async def create(registry: Registry, plural: str, body: Object, group: str = "") -> None:
    """Write an object."""
    of = resource(plural, group)
    await registry.create(of, "a", draft(of, body), Write())


def service(**spec: object) -> Object:
    """A service of one port."""
    return {"metadata": {"name": "s", "namespace": "a"}, "spec": {"ports": [{"name": "https", "port": 443}], **spec}}


async def test_a_flag_goes_before_objects(registry: Registry) -> None:
    found = services(registry)
    assert found.named("a", "given") and found.locate("a", "given", 443) == "127.0.0.1:1"
    assert not found.named("a", "s")


async def test_a_ready_endpoint_answers_for_a_service(registry: Registry) -> None:
    await create(registry, "services", service())
    found = services(registry)
    with pytest.raises(Unreachable, match='no endpoints available for service "s"'):
        found.locate("a", "s", 443)
    await create(registry, "endpointslices", SLICE, "discovery.k8s.io")
    assert found.locate("a", "s", 443) == "10.0.0.2:8443"
    with pytest.raises(Unreachable, match='no service port 80 found for service "s"'):
        found.locate("a", "s", 80)


async def test_an_external_name_is_where_it_says(registry: Registry) -> None:
    await create(registry, "services", service(type="ExternalName", externalName="e.com"))
    assert services(registry).locate("a", "s", 8443) == "e.com:8443"


async def test_a_service_that_is_absent(registry: Registry) -> None:
    with pytest.raises(Unreachable, match='service "s" not found'):
        services(registry).locate("a", "s", 443)


def test_addresses_and_ports() -> None:
    assert (address("::1", 5), address("a", 5)) == ("[::1]:5", "a:5")
    assert port_number(SLICE, "https") == 8443
    assert port_number(SLICE, "http") is None
    assert [e["addresses"] for e in ready(SLICE)] == [["10.0.0.2"]]
