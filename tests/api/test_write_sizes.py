"""The bound of one write, which a cluster has from etcd; numbers and answers of kube-apiserver 1.36.1 on etcd 3.6."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hydrofoil.storage.sizes import transaction
from tests.api.calls import get, post
from tests.api.corrupt import serving

REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/e.com/v1/namespaces/default/things"
MERGE = {"Content-Type": "application/merge-patch+json"}
LARGE: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
LARGE |= {"message": "etcdserver: request is too large", "code": 500}
AGENT = {"User-Agent": "Python-urllib/3"}


def revision(size: int) -> dict[str, Any]:
    return {"metadata": {"name": "big"}, "revision": 1, "data": {"k": "x" * size}}


def thing(size: int, name: str = "big") -> dict[str, Any]:
    return {"apiVersion": "e.com/v1", "kind": "Thing", "metadata": {"name": name}, "data": {"k": "x" * size}}


async def ask(api: aiohttp.ClientSession, method: str, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    data = None if body is None else io.BytesIO(json.dumps(body).encode())
    sent = {"Content-Type": "application/json", **AGENT, **headers}
    async with api.request(method, path, data=data, headers=sent) as r:
        return r.status, await r.json()


async def define(api: aiohttp.ClientSession) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    spec = {"group": "e.com", "names": {"plural": "things", "kind": "Thing"}, "scope": "Namespaced"}
    await post(api, CRDS, {"metadata": {"name": "things.e.com"}, "spec": spec | {"versions": versions}})


async def test_the_largest_object_is_that_of_a_cluster() -> None:
    async with serving() as api:
        await define(api)
        for path, body, most in ((REVISIONS, revision, 1_572_608), (THINGS, thing, 1_572_548)):
            assert await ask(api, "POST", path, body(most + 1)) == (500, LARGE)
            status, _ = await ask(api, "POST", path, body(most))
            assert status == 201
        status, refused = await ask(api, "POST", REVISIONS, revision(2_097_000))
        why = "trying to send message larger than max (2097240 vs. 2097152)"
        assert refused["message"] == f"rpc error: code = ResourceExhausted desc = {why}"


async def test_an_object_that_grows_by_patches_is_bounded() -> None:
    async with serving() as api:
        await define(api)
        await post(api, THINGS, thing(1, "u"))
        path = f"{THINGS}/u"
        for size, status in ((1_500_000, 200), (1_573_000, 500)):
            assert (await ask(api, "PATCH", path, {"data": {"k": "x" * size}}, **MERGE))[0] == status
        grown = {"data": {"k2": "x" * 100_000}}
        assert await ask(api, "PATCH", path, grown, **MERGE) == (500, LARGE)
        assert (await ask(api, "PATCH", f"{path}?dryRun=All", grown, **MERGE))[0] == 200
        assert len((await get(api, path))["data"]["k"]) == 1_500_000
        assert (await ask(api, "DELETE", path, None))[0] == 200


@pytest.mark.parametrize(("most", "status"), [(0, 201), (3_000_000, 201), (100_000, 500)])
async def test_the_bound_is_a_flag(most: int, status: int, tmp_path: Path) -> None:
    for flags in ({}, {"data_dir": str(tmp_path)}):
        async with serving(max_request_bytes=most, **flags) as api:
            assert (await ask(api, "POST", REVISIONS, revision(2_500_000)))[0] == status


@pytest.mark.parametrize(
    ("key", "value", "revision", "size"),
    [(41, 2_097_134, 0, 2_097_240), (41, 1_572_742, 0, 1_572_846), (32, 1_572_721, 900, 1_572_846)],
)
def test_the_size_of_a_transaction(key: int, value: int, revision: int, size: int) -> None:
    assert transaction(key, value, revision) == size
