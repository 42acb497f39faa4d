"""Lists, pages and selections over HTTP."""

from __future__ import annotations

import gzip
from typing import Any

import aiohttp

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
