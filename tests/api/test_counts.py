"""Counts that hold for all servers of a log: quotas and ranges of node ports."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hydrofoil.controllers.ports import LOOKS, PortRepair
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.registry.kinds.services import ServiceStrategy
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from hydrofoil.storage.durable import DurableLog
from tests.api.calls import get, post
from tests.contract.late import LateLog, Truth

Session = aiohttp.ClientSession
CORE = "/api/v1/namespaces/default"
PORTS = (30000, 30023)
RANGE = "10.0.0.0/27"


async def limit(api: Session, name: str, **hard: str) -> None:
    """Make a quota with a status, as the controller writes it."""
    made = await post(api, f"{CORE}/resourcequotas", {"metadata": {"name": name}, "spec": {"hard": hard}})
    made["status"] = {"hard": hard, "used": dict.fromkeys(hard, "0")}
    async with api.put(f"{CORE}/resourcequotas/{name}/status", json=made) as r:
        assert r.status == 200


async def create(api: Session, plural: str, name: str, **body: Any) -> int:
    async with api.post(f"{CORE}/{plural}", json={"metadata": {"name": name}, **body}) as r:
        if r.status not in (201, 403):
            pytest.fail(await r.text())
        return r.status


async def gather(calls: Iterable[Coroutine[Any, Any, int]]) -> list[int]:
    """Return the results of calls, of which six at a time are under way: more would share a turn of the loop."""
    places = asyncio.Semaphore(6)

    async def one(call: Coroutine[Any, Any, int]) -> int:
        async with places:
            return await call

    return await asyncio.gather(*map(one, calls))


async def used(api: Session, name: str) -> dict[str, str]:
    found: dict[str, str] = (await get(api, f"{CORE}/resourcequotas/{name}"))["status"]["used"]
    return found


@pytest.fixture
async def servers() -> AsyncIterator[list[Server]]:
    truth = Truth()
    async with AsyncExitStack() as stack:
        found = []
        for _ in range(2):
            server = Server(
                Config(port=0, service_node_port_range=PORTS, service_cluster_ip_range=RANGE), LateLog(truth)
            )
            await server.start()
            stack.push_async_callback(server.stop)
            found.append(server)
        yield found


@pytest.fixture
async def two(servers: list[Server]) -> AsyncIterator[list[Session]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Session(server.url)) for server in servers]


async def test_a_quota_holds_for_all_servers(two: list[Session]) -> None:
    await limit(two[0], "q", secrets="10")
    await limit(two[1], "wide", **{"count/secrets": "100"})
    codes = Counter(await gather(create(two[i % 2], "secrets", f"s{i}") for i in range(30)))
    assert codes == {201: 10, 403: 20}
    assert await used(two[0], "q") == await used(two[1], "q") == {"secrets": "10"}
    assert len((await get(two[1], f"{CORE}/secrets"))["items"]) == 10


async def test_writes_that_a_quota_does_not_refuse_all_count(two: list[Session]) -> None:
    """Charges that arrive together are written together, and none is lost to another server's."""
    await limit(two[0], "q", configmaps="100", secrets="100")
    kinds = ("secrets", "configmaps")
    made = (create(two[i % 2], kinds[i // 2 % 2], f"o{i}") for i in range(40))
    assert set(await gather(made)) == {201}
    assert await used(two[1], "q") == {"configmaps": "20", "secrets": "20"}


async def test_a_quota_holds_while_writes_wait_for_a_disk(tmp_path: Path) -> None:
    server = Server(Config(port=0), DurableLog(str(tmp_path / "data")))
    await server.start()
    try:
        async with Session(server.url) as api:
            await limit(api, "q", secrets="10")
            codes = Counter(await gather(create(api, "secrets", f"s{i}") for i in range(30)))
            assert codes == {201: 10, 403: 20}
            assert await used(api, "q") == {"secrets": "10"}
    finally:
        await server.stop()


def ported(*ports: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"type": "NodePort", "ports": [{"port": 80}, *ports]}}


async def test_each_port_of_a_range_is_given(two: list[Session]) -> None:
    """Services made at once on both servers use the whole range, and the first of them leave no port recorded."""
    made = (create(two[i % 2], "services", f"s{i}", **ported()) for i in range(24))
    assert set(await gather(made)) == {201}
    found = (await get(two[0], f"{CORE}/services"))["items"]
    chosen = {item["spec"]["ports"][0]["nodePort"] for item in found if item["spec"]["type"] == "NodePort"}
    assert chosen == set(range(PORTS[0], PORTS[1] + 1))
    refused = await post(two[1], f"{CORE}/services", {"metadata": {"name": "more"}, **ported()}, 500)
    assert refused["message"] == "Internal error occurred: failed to allocate a nodePort: range is full"


async def test_a_port_without_a_service_is_freed(servers: list[Server], two: list[Session]) -> None:
    """A server that ends between both writes leaves a port recorded, which no other could use again."""
    app = servers[0].app
    strategy = app.core.registry.strategies["", "services"]
    assert isinstance(strategy, ServiceStrategy)
    assert not await strategy.port_records.take([30007])
    wish = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30007}]}}
    await post(two[1], f"{CORE}/services", wish, 422)
    await post(two[1], f"{CORE}/services", {"metadata": {"name": "other"}, **ported()})
    repair = PortRepair(Runtime(app.core.registry, app.core.hub, app.admission))
    for _ in range(LOOKS - 1):
        await repair.work(("ports",))
    await post(two[1], f"{CORE}/services", wish, 422)
    await repair.work(("ports",))
    await post(two[1], f"{CORE}/services", wish)


async def test_each_address_of_a_range_is_given(two: list[Session]) -> None:
    spec = {"type": "ClusterIP", "ports": [{"port": 80}]}
    made = (create(two[i % 2], "services", f"s{i}", spec=spec) for i in range(29))
    assert set(await gather(made)) == {201}
    found = (await get(two[0], f"{CORE}/services"))["items"]
    assert {item["spec"]["clusterIP"] for item in found} == {f"10.0.0.{n}" for n in range(1, 31)}
    refused = await post(two[1], f"{CORE}/services", {"metadata": {"name": "more"}, "spec": spec}, 500)
    assert refused["message"].endswith("range is full")
