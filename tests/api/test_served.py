"""The time at which definitions are served: those that are made beside the loop, and those that cannot be made."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import aiohttp

from hydrofoil.pace.sizes import LARGE
from hydrofoil.server.run import Server
from tests.api.calls import get, post

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/e.com/v1/namespaces/default/things"


def definition(*served: str, large: bool = False) -> dict[str, Any]:
    properties = {f"field{i:04}": {"type": "string", "description": "d" * 40} for i in range(2000 if large else 1)}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    versions = [{"name": v, "served": True, "storage": v == "v1", "schema": schema} for v in served]
    names = {"plural": "things", "kind": "Thing"}
    spec = {"group": "e.com", "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": "things.e.com"}, "spec": spec}


def thing(name: str) -> dict[str, Any]:
    return {"apiVersion": "e.com/v1", "kind": "Thing", "metadata": {"name": name}}


async def served(api: aiohttp.ClientSession) -> list[str]:
    """Return the versions that discovery has."""
    return [v["version"] for v in (await get(api, "/apis/e.com"))["versions"]]


async def test_a_large_definition_is_served_once_its_write_is_answered(api: aiohttp.ClientSession) -> None:
    made = await post(api, CRDS, definition("v1", large=True))
    assert len(str(made)) > LARGE
    await post(api, THINGS, thing("a"))
    for versions in (["v1", "v2"], ["v1"], ["v1", "v3"]):
        body = definition(*versions, large=True)
        body["metadata"]["resourceVersion"] = (await get(api, f"{CRDS}/things.e.com"))["metadata"]["resourceVersion"]
        async with api.put(f"{CRDS}/things.e.com", json=body) as r:
            assert r.status == 200
        assert sorted(await served(api)) == versions
        for version in versions:
            assert (await get(api, THINGS.replace("v1", version) + "/a"))["metadata"]["name"] == "a"


async def test_what_writes_beside_each_other_leave_is_served(api: aiohttp.ClientSession) -> None:
    """A definition that is written while it is made is served as it was written last."""
    await post(api, CRDS, definition("v1", large=True))
    headers = {"Content-Type": "application/merge-patch+json"}

    async def patch(number: int) -> None:
        names = {"spec": {"names": {"shortNames": [f"t{number}"]}}}
        async with api.patch(f"{CRDS}/things.e.com", json=names, headers=headers) as r:
            assert r.status == 200

    await asyncio.gather(*(patch(i) for i in range(6)))
    found = await get(api, f"{CRDS}/things.e.com")
    assert found["status"]["acceptedNames"]["shortNames"] == found["spec"]["names"]["shortNames"]
    (resource,) = (await get(api, "/apis/e.com/v1"))["resources"]
    assert resource["shortNames"] == found["spec"]["names"]["shortNames"]


async def test_one_that_cannot_be_made_is_told_and_tried_again(server: Server, api: aiohttp.ClientSession) -> None:
    catalog = server.app.core.catalog
    native = catalog.native
    failed = asyncio.Event()

    def fail(_: object) -> None:
        catalog.native = native
        failed.set()
        raise RuntimeError("a fault")

    catalog.native = SimpleNamespace(custom=fail, nonstructural=native.nonstructural)  # type: ignore[assignment]
    async with api.post(CRDS, json=definition("v1")) as r:
        assert r.status == 500
    assert failed.is_set()
    async with asyncio.timeout(30):
        while True:
            async with api.get(THINGS) as r:
                if r.status == 200:
                    break
    await post(api, THINGS, thing("a"))
