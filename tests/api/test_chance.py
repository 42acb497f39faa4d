"""Random draws of a server repeat with its seed."""

from __future__ import annotations

from typing import Any

import aiohttp

from hydrofoil.clock import Chance
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.calls import get, post

CORE = "/api/v1/namespaces"
JSON = {"Content-Type": "application/json"}
SERVICE = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}


async def drawn(seed: int) -> list[Any]:
    """Return values that one server generates: UIDs, names, addresses and ports."""
    server = Server(Config(port=0), chance=Chance(seed))
    await server.start()
    try:
        async with aiohttp.ClientSession(server.url, headers=JSON) as session:
            found: list[Any] = [n["metadata"]["uid"] for n in (await get(session, CORE))["items"]]
            for _ in range(3):
                made = await post(session, f"{CORE}/default/configmaps", {"metadata": {"generateName": "n-"}})
                found += [made["metadata"]["name"], made["metadata"]["uid"]]
            spec = (await post(session, f"{CORE}/default/services", SERVICE))["spec"]
            return [*found, spec["clusterIP"], spec["ports"][0]["nodePort"]]
    finally:
        await server.stop()


async def test_two_servers_of_one_seed_draw_the_same() -> None:
    one = await drawn(7)
    assert one == await drawn(7)
    assert not set(one) & set(await drawn(8)) - {one[-2], one[-1]}
