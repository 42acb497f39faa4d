"""Lists, pages and selections over HTTP."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.run import Server

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


async def fill(api: aiohttp.ClientSession, count: int, size: int = 1) -> None:
    for i in range(count):
        body = {"metadata": {"name": f"p{i:04}", "labels": {"odd": str(i % 2)}}, "data": {"k": "x" * size}}
        async with api.post(CONFIGMAPS, json=body) as r:
            assert r.status == 201


async def page(api: aiohttp.ClientSession, query: str) -> dict[str, Any]:
    async with api.get(f"{CONFIGMAPS}?{query}") as r:
        assert r.status == 200
        got: dict[str, Any] = await r.json()
        return got


async def test_pages_are_one_snapshot(api: aiohttp.ClientSession) -> None:
    """PG-01 to PG-09, the worked example at a tenth of its size."""
    await fill(api, 126)
    first = await page(api, "limit=50")
    assert first["metadata"]["remainingItemCount"] == 76
    async with api.delete(f"{CONFIGMAPS}/p0100") as r:
        assert r.status == 200
    second = await page(api, f"limit=50&continue={first['metadata']['continue']}")
    assert second["metadata"]["remainingItemCount"] == 26
    third = await page(api, f"limit=50&continue={second['metadata']['continue']}")
    assert "continue" not in third["metadata"]
    names = [o["metadata"]["name"] for p in (first, second, third) for o in p["items"]]
    assert names == [f"p{i:04}" for i in range(126)]
    assert len({p["metadata"]["resourceVersion"] for p in (first, second, third)}) == 1


async def test_selection_has_no_remaining_count(api: aiohttp.ClientSession) -> None:
    """PG-10."""
    await fill(api, 10)
    got = await page(api, "limit=2&labelSelector=odd%3D1")
    assert [o["metadata"]["name"] for o in got["items"]] == ["p0001", "p0003"]
    assert "remainingItemCount" not in got["metadata"]


async def test_large_lists_are_streamed_and_compressed(server: Server, api: aiohttp.ClientSession) -> None:
    """CP-01, CP-03."""
    await fill(api, 200, size=4000)
    async with api.get(CONFIGMAPS, headers={"Accept-Encoding": "identity"}) as r:
        plain = await r.read()
        assert r.headers["Transfer-Encoding"] == "chunked"
    async with (
        aiohttp.ClientSession(server.url, auto_decompress=False) as raw,
        raw.get(CONFIGMAPS, headers={"Accept-Encoding": "gzip"}) as r,
    ):
        assert r.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(await r.read()) == plain


async def test_exact_list_of_the_past(api: aiohttp.ClientSession) -> None:
    """RV-18, RV-27."""
    await fill(api, 3)
    before = (await page(api, ""))["metadata"]["resourceVersion"]
    await api.delete(f"{CONFIGMAPS}/p0001")
    got = await page(api, f"resourceVersion={before}&resourceVersionMatch=Exact")
    assert len(got["items"]) == 3
    assert got["metadata"]["resourceVersion"] == before


FORMS = {
    "json": "application/json",
    "protobuf": "application/vnd.kubernetes.protobuf",
    "table": "application/json;as=Table;v=v1;g=meta.k8s.io",
    "metadata": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "metadata-protobuf": "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
}


@pytest.mark.parametrize("form", FORMS)
async def test_kept_encodings_are_what_a_fresh_one_would_be(server: Server, form: str) -> None:
    """CP-01: plain and packed, whole, in pages and selected: before and after a write, twice each."""
    media = FORMS[form]
    queries = (
        "",
        "?limit=130",
        "?labelSelector=odd%3D1",
        "?labelSelector=odd%3D1&limit=40",
        "?fieldSelector=metadata.name!%3Dp0001",
    )
    async with aiohttp.ClientSession(server.url, auto_decompress=False) as raw:
        await fill_many(raw, 400)
        for change in ("first", "second"):
            body = {"metadata": {"labels": {"odd": "1"}}, "data": {"k": change * 200}}
            headers = {"Content-Type": "application/merge-patch+json"}
            async with raw.patch(f"{CONFIGMAPS}/p0100", json=body, headers=headers) as r:
                assert r.status == 200
            for query in queries:
                bodies = set()
                for coding in ("gzip", "identity") * 2:
                    async with raw.get(CONFIGMAPS + query, headers={"Accept": media, "Accept-Encoding": coding}) as r:
                        assert r.status == 200
                        data = await r.read()
                    if r.headers.get("Content-Encoding") == "gzip":
                        plain = gzip.decompress(data)
                        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
                        assert len(data) <= 1.05 * len(packer.compress(plain) + packer.flush())
                        data = plain
                    bodies.add(re.sub(rb'"[0-9]+s"', b'"age"', data))
                assert len(bodies) == 1
                (data,) = bodies
                if not query:
                    assert data.count(b"p0100") > 0
                    assert (change.encode() in data) == (form in ("json", "protobuf"))


async def fill_many(raw: aiohttp.ClientSession, count: int) -> None:
    for i in range(count):
        meta = {"name": f"p{i:04}", "labels": {"odd": str(i % 2)}, "annotations": {"a": f"{i * 7919:0600}"}}
        async with raw.post(CONFIGMAPS, json={"metadata": meta, "data": {"k": "x" * 100}}) as r:
            assert r.status == 201


async def test_a_page_is_cut_out_of_the_kept_leaves(api: aiohttp.ClientSession) -> None:
    """PG-01: pages of every form, put together, have each object once."""
    await fill_many(api, 300)
    for media in (FORMS["table"], FORMS["metadata"]):
        names: list[str] = []
        token = ""
        while True:
            async with api.get(f"{CONFIGMAPS}?limit=70&continue={token}", headers={"Accept": media}) as r:
                got = await r.json()
            rows = got["rows"] if "rows" in got else got["items"]
            names += [(row.get("object") or row)["metadata"]["name"] for row in rows]
            token = got["metadata"].get("continue", "")
            if not token:
                break
        assert names == [f"p{i:04}" for i in range(300)]


@pytest.mark.parametrize("query", ["", "labelSelector=odd%3D1&"])
@pytest.mark.parametrize("form", [form for form in FORMS if form != "json"])
async def test_pages_and_whole_lists_of_a_shared_leaf_have_each_object_once(
    api: aiohttp.ClientSession, form: str, query: str
) -> None:
    """PG-01: a leaf with objects of two namespaces, in pages that begin within it, and whole after and before."""
    await fill(api, 60)
    async with api.post("/api/v1/namespaces/kube-public/configmaps", json={"metadata": {"name": "other"}}) as r:
        assert r.status == 201
    expected = {f"p{i:04}".encode() for i in range(60) if not query or i % 2}
    for limit in (7, 0) * 2:
        found: Counter[bytes] = Counter()
        token = ""
        while True:
            address = f"{CONFIGMAPS}?{query}limit={limit}&continue={token}"
            async with api.get(address, headers={"Accept": FORMS[form]}) as r:
                assert r.status == 200
                data = await r.read()
            found.update(re.findall(rb"\bp\d{4}\b", data))
            shown = re.search(rb"eyJ[\w-]+", data)
            if shown is None:
                break
            token = shown[0].decode()
        assert set(found) == expected
        assert len(set(found.values())) == 1
