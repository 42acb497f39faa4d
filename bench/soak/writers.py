"""Creates, updates, patches and deletes at a steady rate."""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import Any

import aiohttp
from bench.soak.state import NAMESPACES, SHARDS, Key, Soak, View

WORKERS = 16
PAD = "x" * 300


class Writer:
    """Owns its objects, about a share of them: what it was answered last is what they are."""

    def __init__(self, soak: Soak, number: int, share: int) -> None:
        self.soak = soak
        self.number = number
        self.share = share
        self.random = random.Random(number)
        self.made = 0
        self.held: View = {}
        self.keys: list[Key] = []

    async def run(self, rate: float) -> None:
        """Write at a rate a second, and catch up after a delay."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while not self.soak.ending:
            due += 1 / rate
            await asyncio.sleep(max(0.0, due - loop.time()))
            await self.write()

    async def write(self) -> None:
        """One write of any kind; as many creates as deletes once the population is there."""
        size = len(self.keys)
        if size < self.share // 2 or not size:
            return await self.create()
        full = size > self.share
        choice = self.random.random()
        if choice < 0.3:
            return await self.update()
        if choice < 0.6:
            return await self.patch()
        return await (self.delete() if choice < (0.85 if full else 0.75) else self.create())

    def body(self, name: str) -> dict[str, Any]:
        """Return an object of a random shard."""
        labels = {"shard": str(self.random.randrange(SHARDS))}
        return {"metadata": {"name": name, "labels": labels}, "data": {"n": str(self.random.random()), "pad": PAD}}

    async def send(self, method: str, key: Key, body: dict[str, Any] | None, media: str = "application/json") -> None:
        """One request; its answer becomes what is held."""
        space, name = key
        path = f"/api/v1/namespaces/{space}/configmaps" + ("" if method == "POST" else f"/{name}")
        if self.soak.chaos:
            await self.insist(method, key, path, body, media)
            return
        async with self.soak.session.request(method, path, json=body, headers={"Content-Type": media}) as r:
            answer = await r.json()
            self.soak.counts[method.lower()] += 1
            if r.status != (201 if method == "POST" else 200):
                self.soak.fail(f"{method} {path}: {r.status} {answer.get('message')}")
            elif method == "DELETE":
                del self.held[key]
            else:
                self.held[key] = answer["metadata"]["resourceVersion"]

    async def insist(self, method: str, key: Key, path: str, body: dict[str, Any] | None, media: str) -> None:
        """Send one request to a server that may fail; look up its outcome if the answer does not have it."""
        found = f"/api/v1/namespaces/{key[0]}/configmaps/{key[1]}"
        self.soak.counts[method.lower()] += 1
        with contextlib.suppress(aiohttp.ClientError):
            async with self.soak.session.request(method, path, json=body, headers={"Content-Type": media}) as r:
                await r.read()
                if 400 <= r.status < 500 and r.status not in (404, 409):
                    self.soak.fail(f"{method} {path}: {r.status} {await r.text()}")
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with self.soak.session.get(found) as r:
                    if r.status == 200:
                        self.held[key] = (await r.json())["metadata"]["resourceVersion"]
                        if key not in self.keys:
                            self.keys.append(key)
                        return
                    if r.status == 404:
                        self.held.pop(key, None)
                        if key in self.keys:
                            self.keys.remove(key)
                        return
            self.soak.counts["tried again"] += 1
            await asyncio.sleep(0.01)

    async def create(self) -> None:
        """Create a new object."""
        self.made += 1
        key = (f"soak{self.random.randrange(NAMESPACES)}", f"w{self.number}-{self.made}")
        self.keys.append(key)
        await self.send("POST", key, self.body(key[1]))

    async def update(self) -> None:
        """All of an object anew, in another shard; at times with the version it is known to have."""
        key = self.random.choice(self.keys)
        body = self.body(key[1])
        if self.random.random() < 0.5 and key in self.held:
            body["metadata"]["resourceVersion"] = self.held[key]
        await self.send("PUT", key, body)

    async def patch(self) -> None:
        """One field of an object."""
        forms = ("application/merge-patch+json", "application/strategic-merge-patch+json")
        patch = {"data": {"n": str(self.random.random())}}
        await self.send("PATCH", self.random.choice(self.keys), patch, self.random.choice(forms))

    async def delete(self) -> None:
        """Any of its objects."""
        index = self.random.randrange(len(self.keys))
        self.keys[index], self.keys[-1] = self.keys[-1], self.keys[index]
        await self.send("DELETE", self.keys.pop(), None)
