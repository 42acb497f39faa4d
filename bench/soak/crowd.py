"""Clients that vanish, stall and flood, one that asks whether the server lives, and objects that come and go."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import os
import random
import time
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson
from bench.soak.state import Soak

PATH = "/api/v1/configmaps"
ONE = "/api/v1/namespaces/soak0/configmaps"
THINGS = "/apis/chaos.example.com/v1/namespaces"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def _connected(soak: Soak) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host = urlsplit(soak.url)
    return await asyncio.open_connection(host.hostname, host.port, limit=4096)


async def vanishing(soak: Soak) -> None:
    """Send half of a write, or all of it, and go."""
    chance = random.Random(1)
    while True:
        with contextlib.suppress(OSError):
            _, writer = await _connected(soak)
            body = b'{"metadata":{"generateName":"vanished-"},"data":{"k":"' + b"x" * 20_000 + b'"}}'
            head = f"POST {ONE}?dryRun=All HTTP/1.1\r\nHost: {soak.host}\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body[: chance.choice((10, 10_000, len(body)))])
            await asyncio.sleep(chance.uniform(0, 0.05))
            writer.transport.abort()
            soak.counts["vanished"] += 1
        await asyncio.sleep(0.05)


async def stalling(soak: Soak) -> None:
    """Begin a head and stop; or open a WebSocket and never read."""
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = f"GET {PATH}?watch=1 HTTP/1.1\r\nHost: {soak.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    upgrade += f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
    for text in itertools.cycle(("GET /api HTTP/1.1\r\nHost: ", upgrade)):
        with contextlib.suppress(OSError):
            _, writer = await _connected(soak)
            writer.write(text.encode())
            await asyncio.sleep(10)
            writer.transport.abort()
            soak.counts["stalled"] += 1


async def flooding(soak: Soak) -> None:
    """Send many requests at once and read none of the answers."""
    while True:
        with contextlib.suppress(OSError):
            _, writer = await _connected(soak)
            writer.write(f"GET {PATH}?limit=50 HTTP/1.1\r\nHost: {soak.host}\r\n\r\n".encode() * 300)
            await asyncio.sleep(1)
            writer.transport.abort()
            soak.counts["floods"] += 1
        await asyncio.sleep(2)


async def asking(soak: Soak, latencies: list[float]) -> None:
    """Ask `/livez` fifty times a second on a connection of its own."""
    async with aiohttp.ClientSession(soak.url) as session:
        while True:
            begun = time.perf_counter()
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get("/livez") as r:
                    await r.read()
                latencies.append(time.perf_counter() - begun)
            await asyncio.sleep(0.02)


async def _try(soak: Soak, method: str, path: str, body: Any = None) -> Any:
    """Repeat a request until no fault meets it; return None if its object already exists or is already deleted."""
    while True:
        with contextlib.suppress(aiohttp.ClientError):
            async with soak.session.request(method, path, json=body) as r:
                text = await r.read()
                if r.status < 300:
                    return orjson.loads(text)
                if r.status in (404, 409):
                    return None
        soak.counts["tried again"] += 1
        await asyncio.sleep(0.02)


async def coming_and_going(soak: Soak) -> None:
    """Namespaces with owners, dependents and custom resources that are deleted: all of it must go."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    names = {"plural": "things", "kind": "Thing", "singular": "thing", "listKind": "ThingList"}
    spec = {"group": "chaos.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    definition = {"metadata": {"name": "things.chaos.example.com"}, "spec": spec}
    for number in itertools.count():
        name = f"chaos{number}"
        await _try(soak, "POST", CRDS, definition)
        await _try(soak, "POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        path = f"/api/v1/namespaces/{name}/configmaps"
        owner = await _try(soak, "POST", path, {"metadata": {"name": "owner"}})
        if owner is not None:
            found = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
            for i in range(20):
                meta = {"name": f"child{i}", "ownerReferences": [{**found, "blockOwnerDeletion": True}]}
                await _try(soak, "POST", path, {"metadata": meta})
            await _try(soak, "DELETE", f"{path}/owner?propagationPolicy=Foreground")
        thing = {"apiVersion": "chaos.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}
        await _try(soak, "POST", f"{THINGS}/{name}/things", thing)
        if number % 5 == 4:
            await _try(soak, "DELETE", f"{CRDS}/things.chaos.example.com")
        await _try(soak, "DELETE", f"/api/v1/namespaces/{name}")
        soak.counts["came and went"] += 1
        await asyncio.sleep(0.5)


async def gone(soak: Soak, seconds: int) -> None:
    """Wait until all temporary objects are deleted."""
    await _try(soak, "DELETE", f"{CRDS}/things.chaos.example.com")
    async with soak.session.get("/api/v1/namespaces") as r:
        for found in (await r.json())["items"]:
            if "chaos" in found["metadata"]["name"]:
                await _try(soak, "DELETE", f"/api/v1/namespaces/{found['metadata']['name']}")
    left: list[str] = []
    for _ in range(seconds * 10):
        async with soak.session.get("/api/v1/namespaces") as r:
            left = [o["metadata"]["name"] for o in (await r.json())["items"]]
        async with soak.session.get(CRDS) as r:
            left += [o["metadata"]["name"] for o in (await r.json())["items"]]
        left = [name for name in left if "chaos" in name]
        if not left:
            return
        await asyncio.sleep(0.1)
    soak.fail(f"never went: {left[:10]}")
