"""The cost of custom resources relative to ConfigMaps of the same size: `python -m bench.custom` (a release build;
Linux).

A fresh server does the same work on ConfigMaps, on custom resources, and on custom resources with ten rules; its CPU
time per operation is read from `/proc`, and every answer is checked. Targets: 1.2 and 1.5 times ConfigMaps.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

Object = dict[str, Any]
TICK = os.sysconf("SC_CLK_TCK")
READERS = 8
"""Connections that ask at the same time."""
TEXT = "x" * 100
RULES = [
    {"rule": "self.data.size() >= 0"},
    {"rule": "self.data.all(k, k.size() < 50)"},
    *({"rule": f"!has(self.data.absent{i}) || self.data.absent{i} != ''"} for i in range(8)),
]


@dataclass(slots=True)
class Kind:
    """A kind to be measured."""

    name: str
    path: str
    head: Object
    rules: list[Object]

    def body(self, name: str, mark: str) -> Object:
        """Return an object of about a kilobyte."""
        data = {f"key{i}": TEXT for i in range(8)} | {"mark": mark}
        return self.head | {"metadata": {"name": name}, "data": data}

    def definition(self) -> Object | None:
        """Return the definition to create first; None for a built-in kind."""
        group = self.head["apiVersion"].partition("/")[0]
        if group == "v1":
            return None
        values = {"type": "object", "additionalProperties": {"type": "string", "maxLength": 200}, "maxProperties": 20}
        schema: Object = {"type": "object", "properties": {"data": values}}
        if self.rules:
            schema["x-kubernetes-validations"] = self.rules
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"plural": "maps", "singular": "map", "kind": "Map", "listKind": "MapList"}
        spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
        kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        return {**kind, "metadata": {"name": f"maps.{group}"}, "spec": spec}


def custom(name: str, group: str, rules: list[Object]) -> Kind:
    """Return a custom resource."""
    return Kind(name, f"/apis/{group}/v1/namespaces/default/maps", {"apiVersion": f"{group}/v1", "kind": "Map"}, rules)


KINDS = [
    Kind("ConfigMap", "/api/v1/namespaces/default/configmaps", {"apiVersion": "v1", "kind": "ConfigMap"}, []),
    custom("custom", "plain.example.com", []),
    custom("ten rules", "ruled.example.com", RULES),
]


def cpu(pid: int) -> float:
    """Return the user and system time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


@asynccontextmanager
async def server() -> AsyncIterator[tuple[str, int]]:
    """Yield the URL and the process of a fresh server."""
    line = [sys.executable, "-m", "hydrofoil", "serve", "--port", "0", "--controllers", ""]
    process = await asyncio.create_subprocess_exec(*line, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().split()[-1], process.pid
    finally:
        process.terminate()
        await process.wait()


class Bench:
    """The cases over one kind."""

    def __init__(self, api: aiohttp.ClientSession, pid: int, kind: Kind, objects: int) -> None:
        self._api, self._pid, self._kind, self._objects = api, pid, kind, objects

    async def _ask(self, method: str, path: str, body: Object | None = None, **params: str) -> Any:
        async with self._api.request(method, path, json=body, params=params) as answer:
            if answer.status not in (200, 201):
                raise SystemExit(f"{method} {path}: {answer.status} {await answer.text()}")
            return await answer.json()

    async def _measure(self, times: int, one: Callable[[int], Awaitable[None]]) -> float:
        """Microseconds of the server's CPU an operation."""
        numbers = iter(range(times))

        async def reader() -> None:
            for i in numbers:
                await one(i)

        before = cpu(self._pid)
        await asyncio.gather(*(reader() for _ in range(READERS)))
        return (cpu(self._pid) - before) / times * 1e6

    async def run(self) -> dict[str, float]:
        """Return the cost of each case."""
        kind, objects = self._kind, self._objects
        if (made := kind.definition()) is not None:
            await self._ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", made)

        versions: dict[int, str] = {}

        async def create(i: int) -> None:
            found = await self._ask("POST", kind.path, kind.body(f"o{i}", "new"))
            assert found["data"]["mark"] == "new"
            versions[i] = found["metadata"]["resourceVersion"]

        async def get(i: int) -> None:
            found = await self._ask("GET", f"{kind.path}/o{i % objects}")
            assert found["metadata"]["name"] == f"o{i % objects}"

        async def list_(_: int) -> None:
            assert len((await self._ask("GET", kind.path, resourceVersion="0"))["items"]) >= objects

        async def page(_: int) -> None:
            assert len((await self._ask("GET", kind.path, limit="100"))["items"]) == 100

        writes = count(1)

        async def update(i: int) -> None:
            # The same content again would be no write.
            mark = str(next(writes))
            body = kind.body(f"o{i % objects}", mark)
            body["metadata"]["resourceVersion"] = versions[i % objects]
            found = await self._ask("PUT", f"{kind.path}/o{i % objects}", body)
            assert found["data"]["mark"] == mark
            versions[i % objects] = found["metadata"]["resourceVersion"]

        out = {"create": await self._measure(objects, create), "get": await self._measure(4 * objects, get)}
        out["list"] = await self._measure(40, list_) / objects
        out["page"] = await self._measure(400, page) / 100
        out["update"] = await self._measure(objects, update)
        out["watch"] = await self._watch(update) - out["update"]
        return out

    async def _watch(self, update: Callable[[int], Awaitable[None]]) -> float:
        """Update with a hundred watchers; return the difference, which is their cost."""
        writes, watchers = self._objects // 2, 100

        async def watcher() -> None:
            left = writes
            async with self._api.get(self._kind.path, params={"watch": "true", "resourceVersion": now}) as stream:
                ready.release()
                while left and await stream.content.readline():
                    left -= 1
            assert not left

        now = (await self._ask("GET", self._kind.path, limit="1"))["metadata"]["resourceVersion"]
        ready = asyncio.Semaphore(0)
        tasks = [asyncio.create_task(watcher()) for _ in range(watchers)]
        for _ in tasks:
            await ready.acquire()
        before = cpu(self._pid)
        await self._measure(writes, update)
        await asyncio.gather(*tasks)
        return (cpu(self._pid) - before) / writes * 1e6


async def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="bench.custom", description=__doc__)
    parser.add_argument("--objects", type=int, default=1000, help="objects of each kind (default %(default)s)")
    parser.add_argument("--out", type=Path, help="a file for the figures as JSON")
    given = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    connector = aiohttp.TCPConnector(limit=0)
    async with server() as (url, pid), aiohttp.ClientSession(url, connector=connector, read_bufsize=1 << 20) as api:
        for kind in KINDS:
            found[kind.name] = await Bench(api, pid, kind, given.objects).run()
    print(f"{'us of CPU':12}" + "".join(f"{name:>18}" for name in found))
    base = found[KINDS[0].name]
    for case in base:
        cells = (f"{costs[case]:10.1f} ({costs[case] / base[case]:4.2f})" for costs in found.values())
        print(f"{case:12}" + "".join(f"{cell:>18}" for cell in cells))
    if given.out:
        given.out.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
