"""Watchers that hold a view of the selected objects, resume after a cut, and list again when they must."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import aiohttp
import orjson
from bench.soak.state import NAMESPACES, SHARDS, Key, Soak, View, key, view

METADATA = "application/json;as={};g=meta.k8s.io;v=v1"


class Watcher:
    """One of many: most select a shard, some a namespace, a few everything."""

    def __init__(self, soak: Soak, number: int) -> None:
        self.soak = soak
        self.held: View = {}
        self.version = ""
        self.answer: aiohttp.ClientResponse | None = None
        self.space = f"soak{number % NAMESPACES}" if number % 200 == 1 else ""
        self.shard = "" if self.space or number % 500 == 0 else str(number % SHARDS)
        self.metadata_only = number % 3 == 0
        self.initial_events = number % 2 == 0
        self.path = f"/api/v1/namespaces/{self.space}/configmaps" if self.space else "/api/v1/configmaps"
        # Objects that are there from the start have no shard.
        self.selector = f"shard={self.shard}" if self.shard else "shard"

    def __repr__(self) -> str:
        """Say what it follows and how, and how far it is."""
        how = "initial events" if self.initial_events else "a list"
        what = "metadata" if self.metadata_only else "objects"
        return f"{self.path}?{self.selector} ({what} from {how}, at version {self.version or 'none'})"

    def expected(self, fresh: View, shards: dict[Key, str]) -> View:
        """Return the selected part of a fresh list."""
        return {
            k: version
            for k, version in fresh.items()
            if (not self.space or k[0] == self.space) and (not self.shard or shards[k] == self.shard)
        }

    async def run(self) -> None:
        """Follows until it is cancelled."""
        while True:
            try:
                if not self.version and not self.initial_events:
                    await self.list()
                await self.watch()
            except (aiohttp.ClientError, ConnectionError):
                self.soak.counts["cut"] += 1
                if self.soak.chaos:
                    await asyncio.sleep(0.02)

    def kill(self) -> None:
        """Cuts its connection without a word."""
        if self.answer is not None and self.answer.connection is not None:
            transport = self.answer.connection.transport
            if transport is not None:
                transport.abort()

    def headers(self, kind: str) -> dict[str, str]:
        """Return its Accept header."""
        return {"Accept": METADATA.format(kind) if self.metadata_only else "application/json"}

    async def list(self) -> None:
        """Start from a list."""
        params = {"labelSelector": self.selector}
        headers = self.headers("PartialObjectMetadataList")
        async with self.soak.session.get(self.path, params=params, headers=headers) as r:
            if self.soak.chaos:
                r.raise_for_status()
            answer = orjson.loads(await r.read())
        # An empty list of metadata has null for its items.
        self.held = view(answer["items"] or [])
        self.version = answer["metadata"]["resourceVersion"]
        self.soak.counts["listed by watchers"] += 1

    async def watch(self) -> None:
        """Watch from the present resource version."""
        params = {"watch": "1", "labelSelector": self.selector, "allowWatchBookmarks": "true"}
        if self.version:
            params["resourceVersion"] = self.version
        else:
            params |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
            self.held = {}
        headers = self.headers("PartialObjectMetadata")
        async with self.soak.session.get(self.path, params=params, headers=headers) as r:
            if self.soak.chaos:
                r.raise_for_status()
            if r.status != 200:
                self.soak.fail(f"watch: {r.status} {await r.text()}")
                return
            self.answer = r
            async for line in r.content:
                self.take(line)
        self.soak.counts["ended"] += 1

    def take(self, line: bytes) -> None:
        """One event. Until the bookmark of initial events, what came is no state that a watch could go on from."""
        event = orjson.loads(line)
        item = event["object"]
        kind = event["type"]
        self.soak.counts["events"] += 1
        if kind == "ERROR" and self.soak.chaos and item.get("code") == 500:
            # Continue from the present resource version.
            self.soak.counts["failed streams"] += 1
            return
        if kind == "ERROR":
            self.version = ""
            self.soak.counts["expired"] += 1
            if item.get("code") != 410:
                self.soak.fail(f"watch: {json.dumps(item)}")
            return
        version = item["metadata"]["resourceVersion"]
        if kind == "DELETED":
            if self.held.pop(key(item), None) is None:
                self.soak.fail(f"deleted, but not known: {key(item)}")
        elif kind != "BOOKMARK":
            if (kind == "ADDED") == (key(item) in self.held):
                self.soak.fail(f"{kind}: {key(item)}")
            self.held[key(item)] = version
        if self.version or kind == "BOOKMARK":
            self.version = version


@contextlib.asynccontextmanager
async def following(watchers: list[Watcher]) -> AsyncIterator[None]:
    """Watchers at work."""
    tasks = [asyncio.create_task(w.run()) for w in watchers]
    try:
        yield
    finally:
        for task, watcher in zip(tasks, watchers, strict=True):
            if task.done():
                watcher.soak.fail(f"{watcher}: {task.exception()!r}")
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
