"""Namespace deletion and garbage collection."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp

NAMESPACES = "/api/v1/namespaces"


async def post(api: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> dict[str, Any]:
    async with api.post(path, json=body) as r:
        assert r.status == 201, await r.text()
        made: dict[str, Any] = await r.json()
        return made


async def until_gone(api: aiohttp.ClientSession, path: str) -> None:
    async with asyncio.timeout(20):
        while True:
            async with api.get(path) as r:
                if r.status == 404:
                    return
            await asyncio.sleep(0.02)


async def test_namespace_deletion_takes_the_content_first(api: aiohttp.ClientSession) -> None:
    """URI-23."""
    await post(api, NAMESPACES, {"metadata": {"name": "n"}})
    await post(api, f"{NAMESPACES}/n/configmaps", {"metadata": {"name": "c"}})
    # It stays, and the namespace with it, until the test releases it.
    await post(api, f"{NAMESPACES}/n/configmaps", {"metadata": {"name": "held", "finalizers": ["e.com/held"]}})
    async with api.delete(f"{NAMESPACES}/n") as r:
        assert (await r.json())["status"]["phase"] == "Terminating"
    async with api.post(f"{NAMESPACES}/n/configmaps", json={"metadata": {"name": "late"}}) as r:
        assert r.status == 403
    merge = {"Content-Type": "application/merge-patch+json"}
    async with api.patch(
        f"{NAMESPACES}/n/configmaps/held", json={"metadata": {"finalizers": None}}, headers=merge
    ) as r:
        assert r.status == 200
    await until_gone(api, f"{NAMESPACES}/n")
    async with api.get(f"{NAMESPACES}/n/configmaps") as r:
        assert (await r.json())["items"] == []


async def test_dependents_follow_their_owner(api: aiohttp.ClientSession) -> None:
    base = f"{NAMESPACES}/default"
    owner = await post(api, f"{base}/configmaps", {"metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    await post(api, f"{base}/secrets", {"metadata": {"name": "child", "ownerReferences": [reference]}})
    async with api.delete(f"{base}/configmaps/owner") as r:
        assert r.status == 200
    await until_gone(api, f"{base}/secrets/child")
