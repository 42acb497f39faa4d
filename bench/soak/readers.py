"""Lists in changing forms, readers that hardly read, and clients that are killed."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
from urllib.parse import urlsplit

import aiohttp
from bench.soak.state import SHARDS, Soak, view
from bench.soak.watchers import METADATA, Watcher

PATH = "/api/v1/configmaps"
PROTOBUF = "application/vnd.kubernetes.protobuf"
FORMS: tuple[tuple[str, dict[str, str]], ...] = (
    ("application/json", {}),
    (PROTOBUF, {}),
    ("application/json", {"resourceVersion": "0"}),
    (METADATA.format("PartialObjectMetadataList"), {}),
    (METADATA.format("Table"), {}),
    ("application/json", {"labelSelector": "shard=7"}),
    ("application/json", {"limit": "500"}),
    ("application/yaml", {"labelSelector": f"shard={SHARDS - 1}"}),
)


async def lists(soak: Soak) -> None:
    """List each second, each time in another form; a walk in pages has no object twice."""
    for accept, params in itertools.cycle(FORMS):
        try:
            await _list(soak, accept, params)
        except aiohttp.ClientError:
            if not soak.chaos:
                raise
            soak.counts["lists that broke"] += 1
        await asyncio.sleep(1)


async def _list(soak: Soak, accept: str, params: dict[str, str]) -> None:
    walked = dict(params)
    seen: set[tuple[str, str]] = set()
    while True:
        async with soak.session.get(PATH, params=walked, headers={"Accept": accept}) as r:
            soak.counts["lists"] += 1
            if soak.chaos and r.status == 500:
                soak.counts["lists that failed"] += 1
                break
            if r.status != 200:
                soak.fail(f"list {accept} {walked}: {r.status} {(await r.text())[:200]}")
                break
            body = await r.read()
            if accept != "application/json":
                break
            answer = await r.json()
        soak.counts["list bytes"] += len(body)
        page = set(view(answer["items"]))
        if seen & page:
            soak.fail(f"list {walked}: {len(seen & page)} objects twice")
        seen |= page
        walked["continue"] = answer["metadata"].get("continue", "")
        if not walked["continue"]:
            break


async def slow_reader(soak: Soak, number: int) -> None:
    """Request a list or a watch, read a little at a time or nothing at all, and disconnect without a close."""
    host = urlsplit(soak.url)
    assert host.hostname
    chance = random.Random(number)
    query = "?watch=1" if number % 2 else ""
    while True:
        with contextlib.suppress(ConnectionError):
            reader, writer = await asyncio.open_connection(host.hostname, host.port, limit=4096)
            writer.write(f"GET {PATH}{query} HTTP/1.1\r\nHost: {soak.host}\r\n\r\n".encode())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(chance.uniform(2, 20)):
                    while number % 4 < 2 and await reader.read(1024):
                        await asyncio.sleep(0.1)
                    await asyncio.Event().wait()
            writer.transport.abort()
            soak.counts["slow readers gone"] += 1


async def kills(soak: Soak, watchers: list[Watcher]) -> None:
    """Cuts a watcher twenty times a second, and now and then a hundred at once."""
    chance = random.Random(0)
    while not soak.ending:
        for watcher in chance.sample(watchers, min(len(watchers), 100 if chance.random() < 0.01 else 1)):
            watcher.kill()
        await asyncio.sleep(0.05)
