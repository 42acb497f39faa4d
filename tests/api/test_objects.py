"""Objects over HTTP: create, read, replace, patch, delete."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import aiohttp
import pytest

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def configmap(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def test_round_trip(api: aiohttp.ClientSession) -> None:
    """URI-07, URI-13, RV-03."""
    async with api.post(CONFIGMAPS, json=configmap("a", k="v")) as r:
        assert r.status == 201
        made = await r.json()
    async with api.get(f"{CONFIGMAPS}/a") as r:
        assert await r.json() == made
    made["data"]["k"] = "w"
    async with api.put(f"{CONFIGMAPS}/a", json=made) as r:
        assert r.status == 200
        changed = await r.json()
    assert int(changed["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    async with api.put(f"{CONFIGMAPS}/a", json=changed) as r:
        assert await r.json() == changed, "the same content takes no revision"
    async with api.delete(f"{CONFIGMAPS}/a") as r:
        assert (await r.json())["status"] == "Success"
    async with api.get(f"{CONFIGMAPS}/a") as r:
        assert r.status == 404


async def test_versions_that_are_no_numbers_are_bad_requests(api: aiohttp.ClientSession) -> None:
    """UP-02."""
    async with api.post(CONFIGMAPS, json=configmap("odd")) as r:
        made = await r.json()
    for version, why in (("abc", "invalid syntax"), ("-1", "invalid syntax"), ("9" * 5000, "value out of range")):
        made["metadata"]["resourceVersion"] = version
        async with api.put(f"{CONFIGMAPS}/odd", json=made) as r:
            status = await r.json()
        assert (r.status, status["reason"]) == (400, "BadRequest")
        assert status["message"].endswith(f'parsing "{version}": {why}')


async def test_only_one_of_racing_writers_wins(api: aiohttp.ClientSession) -> None:
    """UP-02, UP-03."""
    async with api.post(CONFIGMAPS, json=configmap("race")) as r:
        made = await r.json()

    async def put(i: int) -> int:
        async with api.put(f"{CONFIGMAPS}/race", json={**made, "data": {"i": str(i)}}) as r:
            return r.status

    statuses = await asyncio.gather(*(put(i) for i in range(50)))
    assert sorted(statuses) == [200] + [409] * 49


async def test_merge_patches_never_conflict_without_a_version(api: aiohttp.ClientSession) -> None:
    """UP-10, UP-14."""
    async with api.post(CONFIGMAPS, json=configmap("busy")) as r:
        assert r.status == 201

    async def patch(i: int) -> int:
        headers = {"Content-Type": "application/merge-patch+json"}
        async with api.patch(f"{CONFIGMAPS}/busy", data=f'{{"data":{{"k{i}":"v"}}}}', headers=headers) as r:
            return r.status

    assert set(await asyncio.gather(*(patch(i) for i in range(50)))) == {200}
    async with api.get(f"{CONFIGMAPS}/busy") as r:
        assert len((await r.json())["data"]) == 50


async def test_finalizers_hold_an_object(api: aiohttp.ClientSession) -> None:
    """DEL-01, DEL-02, DEL-06."""
    body = configmap("held")
    body["metadata"]["finalizers"] = ["example.com/x"]
    async with api.post(CONFIGMAPS, json=body) as r:
        assert r.status == 201
    async with api.delete(f"{CONFIGMAPS}/held") as r:
        assert (await r.json())["metadata"]["deletionTimestamp"]
    headers = {"Content-Type": "application/merge-patch+json"}
    async with api.patch(f"{CONFIGMAPS}/held", data=b'{"metadata":{"finalizers":null}}', headers=headers) as r:
        assert r.status == 200
    async with api.get(f"{CONFIGMAPS}/held") as r:
        assert r.status == 404


@pytest.mark.parametrize(("level", "status", "warned"), [("Strict", 400, 0), ("Warn", 201, 2), ("Ignore", 201, 0)])
async def test_unknown_and_duplicate_fields(api: aiohttp.ClientSession, level: str, status: int, warned: int) -> None:
    """FV-07, FV-08, FV-09."""
    body = b'{"metadata":{"name":"u"},"datum":{},"data":{"a":"1","a":"2"}}'
    async with api.post(f"{CONFIGMAPS}?fieldValidation={level}", data=body) as r:
        assert r.status == status
        assert len(r.headers.getall("Warning", [])) == warned


async def test_dry_run_stores_nothing(api: aiohttp.ClientSession) -> None:
    """DRY-01, DRY-13."""
    before, after = "", ""
    # The server's own first writes may be under way; a write of each dry run would never end.
    for _ in range(50):
        async with api.get(CONFIGMAPS) as r:
            before = (await r.json())["metadata"]["resourceVersion"]
        async with api.post(f"{CONFIGMAPS}?dryRun=All", json=configmap("dry")) as r:
            assert r.status == 201
        async with api.get(CONFIGMAPS) as r:
            found = await r.json()
        assert found["items"] == []
        after = found["metadata"]["resourceVersion"]
        if after == before:
            break
    assert after == before


@pytest.mark.parametrize(
    "body",
    [
        b" ",
        b"[]",
        b"{",
        b'{"a":',
        b"\xff",
        b"[" * 5000,
        b'{"metadata":' * 2000,
        b'"x"',
        b"5",
        b'{"metadata":{"name":1}}',
    ],
)
async def test_bad_bodies_are_a_status(api: aiohttp.ClientSession, body: bytes) -> None:
    async with api.post(CONFIGMAPS, data=body) as r:
        assert r.status == 400
        assert (await r.json())["reason"] == "BadRequest"


async def test_oversize_body(api: aiohttp.ClientSession) -> None:
    async with api.post(CONFIGMAPS, data=io.BytesIO(b" " * (3 * 1024 * 1024 + 1))) as r:
        assert r.status == 413
        assert (await r.json())["reason"] == "RequestEntityTooLarge"


async def test_yaml_both_ways(api: aiohttp.ClientSession) -> None:
    """MT-03, MT-04."""
    headers = {"Content-Type": "application/yaml", "Accept": "application/yaml"}
    async with api.post(
        CONFIGMAPS, data=b"metadata:\n  name: yaml\ndata:\n  k: |\n    two\n    lines\n", headers=headers
    ) as r:
        assert r.status == 201
        assert r.headers["Content-Type"] == "application/yaml"
        assert "k: |\n    two\n    lines\n" in await r.text()


async def test_generated_names_are_retried(api: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch) -> None:
    names = iter(["gen-aaaaa", "gen-aaaaa", "gen-bbbbb"])
    monkeypatch.setattr("hydrofoil.registry.names.generate_name", lambda *_: next(names))
    body = {"metadata": {"generateName": "gen-"}}
    got = []
    for _ in range(2):
        async with api.post(CONFIGMAPS, json=body) as r:
            got.append((await r.json())["metadata"]["name"])
    assert got == ["gen-aaaaa", "gen-bbbbb"]
