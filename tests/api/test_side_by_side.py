"""Two servers in one process share nothing that a flag decides."""

from __future__ import annotations

import asyncio
import gc
import types
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

import hydrofoil
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

SERVICES = "/api/v1/namespaces/default/services"


@asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[tuple[Server, aiohttp.ClientSession]]:
    server = Server(Config(port=0, controllers="", **settings))
    await server.start()
    async with aiohttp.ClientSession(server.url) as api:
        yield server, api
    await server.stop()


async def seen(api: aiohttp.ClientSession) -> dict[str, Any]:
    """Return the answers of a server that depend on its flags."""
    found: dict[str, Any] = {}
    async with api.get("/apis") as r:
        found["groups"] = {g["name"]: [v["version"] for v in g["versions"]] for g in (await r.json())["groups"]}
    async with api.get("/metrics") as r:
        text = await r.text()
        found["gate"] = next(line for line in text.splitlines() if 'name="CBORServingAndStorage"' in line)[-1]
    async with api.post(SERVICES, json={"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1}]}}) as r:
        assert r.status == 201
        found["address"] = (await r.json())["spec"]["clusterIP"].split(".")[0]
    async with api.get(f"{SERVICES}/s", headers={"Accept": "application/cbor, application/json"}) as r:
        found["media"] = r.content_type
    async with api.get("/openapi/v3") as r:
        found["documents"] = sorted((await r.json(content_type=None))["paths"])
    return found


async def test_each_server_is_what_its_own_flags_say() -> None:
    one: dict[str, Any] = {}
    two: dict[str, Any] = {
        "runtime_config": {"batch/v1": False, "resource.k8s.io/v1beta1": True},
        "feature_gates": {"CBORServingAndStorage": True},
        "service_cluster_ip_range": "172.30.0.0/16",
    }
    alone = []
    for settings in (one, two):
        async with serving(**settings) as (_, api):
            alone.append(await seen(api))
    async with serving(**one) as (_, first), serving(**two) as (_, second):
        together = await asyncio.gather(seen(first), seen(second))
    assert [*together] == alone
    assert alone[0]["address"] == "10"
    assert alone[1]["address"] == "172"
    assert "batch" not in alone[1]["groups"]
    assert all(alone[0][key] != alone[1][key] for key in alone[0])


def globals_of(package: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield every name of every loaded module of the package, with its value."""
    import sys

    for name, module in sorted(sys.modules.items()):
        if name == package.__name__ or name.startswith(f"{package.__name__}."):
            for key, value in vars(module).items():
                yield f"{name}.{key}", value


async def test_no_module_holds_a_server() -> None:
    """Nothing that a module reaches by its names, lists and dicts belongs to one server."""
    async with serving() as (server, _):
        own = {id(part): type(part).__name__ for part in (server, server.app, *vars(server.app).values()) if part}
        for constant in (True, False, None):
            own.pop(id(constant), None)
        for name, value in globals_of(hydrofoil):
            held = gc.get_referents(value) if isinstance(value, dict | list | set) else []
            for part in (value, *held):
                assert id(part) not in own, f"{name} holds the {own[id(part)]} of a server"
