"""One large request blocks no other: others are answered while it is processed."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import aiohttp
import orjson
import pytest

from tests.api.calls import spent
from tests.api.custom import CRDS, THINGS, definition, thing, version
from tests.conftest import Process

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PATIENCE = 0.5
"""How much the server may work before it answers another client, in seconds of processor time."""
TOTAL = 15
"""How long the request itself may take."""


def config_map(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, **more}


def pod(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": containers, **spec}}


def service(count: int, kind: str) -> dict[str, Any]:
    ports = [{"name": f"p{i}", "port": i + 1} for i in range(count)]
    spec = {"type": kind, "selector": {"a": "b"}, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}


def duplicates() -> bytes:
    members = b",".join(b'"k%d":"v"' % (i % 30_000) for i in range(60_000))
    return b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{%s}}' % members


def anchors() -> bytes:
    members = "".join(f"  k{i}: &a{i} v\n" for i in range(100_000))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{members}".encode()


def owners() -> dict[str, Any]:
    found = [{"apiVersion": "v1", "kind": "ConfigMap", "name": f"o{i}", "uid": f"u{i}"} for i in range(20_000)]
    return config_map(metadata={"name": "a", "ownerReferences": found})


def many_properties() -> dict[str, Any]:
    properties = {f"p{i}": {"type": "string"} for i in range(30_000)}
    return definition(version("v1", storage=True, schema={"type": "object", "properties": properties}))


def many_versions() -> dict[str, Any]:
    return definition(*(version(f"v{i + 1}", storage=i == 0) for i in range(3000)))


def pattern() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"s": {"type": "string", "pattern": r"\pL{1000}"}}}
    return definition(version("v1", storage=True, schema=schema))


ATTACKS: dict[str, tuple[str, Any]] = {
    "unknown members": (THINGS, lambda: {**thing("a"), **{f"m{i}": i for i in range(40_000)}}),
    "anchors": (CONFIGMAPS, anchors),
    "duplicate keys": (f"{CONFIGMAPS}?fieldValidation=Strict", duplicates),
    "containers": (
        "/api/v1/namespaces/default/pods",
        lambda: pod(containers=[{"name": f"c{i}", "image": "i"} for i in range(20_000)]),
    ),
    "volumes": (
        "/api/v1/namespaces/default/pods",
        lambda: pod(volumes=[{"name": f"v{i}", "emptyDir": {}} for i in range(10_000)]),
    ),
    "ports": ("/api/v1/namespaces/default/services", lambda: service(20_000, "ClusterIP")),
    "node ports": ("/api/v1/namespaces/default/services", lambda: service(2700, "NodePort")),
    "owners": (CONFIGMAPS, owners),
    "properties": (CRDS, many_properties),
    "versions": (CRDS, many_versions),
    "pattern": (CRDS, pattern),
}


@pytest.mark.parametrize("name", ATTACKS)
async def test_others_are_answered(process: Process, name: str) -> None:
    path, make = ATTACKS[name]
    body = make()
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    media = "application/yaml" if name == "anchors" else "application/json"
    waits: list[float] = []

    async def ask(api: aiohttp.ClientSession) -> None:
        while True:
            begun = await asyncio.to_thread(spent, process[0].pid)
            async with api.get("/livez") as r:
                assert r.status == 200
            waits.append(await asyncio.to_thread(spent, process[0].pid) - begun)
            await asyncio.sleep(0.001)

    async with aiohttp.ClientSession(process[1]) as api, aiohttp.ClientSession(process[1]) as other:
        if path == THINGS:
            plain = orjson.dumps(definition(version("v1", storage=True)))
            async with api.post(CRDS, data=plain, headers={"Content-Type": "application/json"}) as r:
                assert r.status == 201
        asking = asyncio.create_task(ask(other))
        async with asyncio.timeout(TOTAL):
            while not waits:
                await asyncio.sleep(0)
        async with asyncio.timeout(TOTAL):
            async with api.post(path, data=io.BytesIO(data), headers={"Content-Type": media}) as r:
                answers = (201,) if name == "pattern" else (201, 400, 422)
                assert r.status in answers, await r.text()
                await r.read()
        # Requests sent meanwhile are answered by now.
        count = len(waits)
        async with asyncio.timeout(TOTAL):
            while len(waits) == count:
                await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    assert max(waits) < PATIENCE
