"""Versions that are off by default show the objects of their kinds, and are shown as them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.calls import get, post

DEVICES = "/apis/resource.k8s.io/{}"
CLAIMS, SLICES = "namespaces/default/resourceclaims", "resourceslices"
APPLY = {"Content-Type": "application/apply-patch+yaml"}


@pytest.fixture
async def beta() -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a server with every beta version."""
    server = Server(Config(port=0, runtime_config={"api/beta": True}))
    await server.start()
    async with aiohttp.ClientSession(server.url) as api:
        yield api
    await server.stop()


@pytest.mark.parametrize(
    ("group", "older", "plural", "spec"),
    [
        ("resource.k8s.io", "v1beta1", "deviceclasses", {"spec": {}}),
        ("resource.k8s.io", "v1beta2", "deviceclasses", {"spec": {}}),
        ("storage.k8s.io", "v1beta1", "volumeattributesclasses", {"driverName": "d", "parameters": {"a": "b"}}),
        ("networking.k8s.io", "v1beta1", "servicecidrs", {"spec": {"cidrs": ["10.9.0.0/24"]}}),
    ],
)
async def test_a_kind_of_one_form(
    beta: aiohttp.ClientSession, group: str, older: str, plural: str, spec: dict[str, Any]
) -> None:
    """GR-04: every version answers as itself, whichever wrote."""
    for written, read in ((older, "v1"), ("v1", older)):
        name = f"of-{written}"
        if plural == "servicecidrs":
            spec = {"spec": {"cidrs": [f"10.{9 if written == 'v1' else 8}.0.0/24"]}}
        made = await post(beta, f"/apis/{group}/{written}/{plural}", {"metadata": {"name": name}, **spec})
        assert made["apiVersion"] == f"{group}/{written}"
        path = f"/apis/{group}/{read}/{plural}"
        found = await get(beta, f"{path}/{name}")
        assert found == made | {"apiVersion": f"{group}/{read}"}
        listed = await get(beta, path)
        assert listed["apiVersion"] == f"{group}/{read}"
        assert found["metadata"]["uid"] in [item["metadata"]["uid"] for item in listed["items"]]
        assert not [item for item in listed["items"] if item.get("apiVersion", f"{group}/{read}") != f"{group}/{read}"]


async def test_a_request_for_devices(beta: aiohttp.ClientSession) -> None:
    """`Convert_v1beta1_DeviceRequest_To_resource_DeviceRequest` and back: what is exact has a place of its own."""
    exact = {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 2}
    body = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "r", **exact}]}}}
    await post(beta, f"{DEVICES.format('v1beta1')}/{CLAIMS}", body)
    for version in ("v1", "v1beta2"):
        found = await get(beta, f"{DEVICES.format(version)}/{CLAIMS}/c")
        assert found["spec"]["devices"]["requests"] == [{"name": "r", "exactly": exact}]
    found = await get(beta, f"{DEVICES.format('v1beta1')}/{CLAIMS}/c")
    assert found["spec"]["devices"]["requests"] == [{"name": "r", **exact}]


async def test_devices_of_a_slice(beta: aiohttp.ClientSession) -> None:
    """`Convert_v1beta1_Device_To_resource_Device` and back."""
    attributes = {"attributes": {"a": {"int": 1}}}
    spec = {"driver": "d", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}
    devices = [{"name": "x", "basic": attributes}]
    body = {"metadata": {"name": "s"}, "spec": {**spec, "devices": devices}}
    await post(beta, f"{DEVICES.format('v1beta1')}/{SLICES}", body)
    found = await get(beta, f"{DEVICES.format('v1')}/{SLICES}/s")
    assert found["spec"]["devices"] == [{"name": "x", **attributes}]
    assert found["spec"]["nodeName"] == "n"
    found = await get(beta, f"{DEVICES.format('v1beta1')}/{SLICES}/s")
    assert found["spec"]["devices"] == devices


async def test_an_owner_of_another_version(beta: aiohttp.ClientSession) -> None:
    """Fields that a manager applied in one version are still its own when it applies the next."""
    path = "/apis/storage.k8s.io/{}/volumeattributesclasses/v?fieldManager=m"
    for version, status in (("v1beta1", 201), ("v1", 200)):
        body = {
            "apiVersion": f"storage.k8s.io/{version}",
            "kind": "VolumeAttributesClass",
            "metadata": {"name": "v", "labels": {"l": version}},
            "driverName": "d",
            "parameters": {"a": "b"},
        }
        async with beta.patch(path.format(version), json=body, headers=APPLY) as r:
            assert r.status == status, await r.text()
            owned = await r.json()
    assert owned["metadata"]["labels"] == {"l": "v1"}
    assert [entry["apiVersion"] for entry in owned["metadata"]["managedFields"]] == ["storage.k8s.io/v1"]
