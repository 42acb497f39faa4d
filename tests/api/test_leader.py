"""The election of the server that runs the controllers, among servers of one log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from hydrofoil.controllers.leader import Leader
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server, StartError
from tests.api.calls import get, post
from tests.api.custom import until
from tests.contract.late import LateLog, Truth

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/hydrofoil-controllers"
TIMES: dict[str, Any] = {
    "leader_elect": True,
    "leader_elect_lease_duration": 15.0,
    "leader_elect_renew_deadline": 10.0,
    "leader_elect_retry_period": 0.05,
}
SHORT: dict[str, Any] = {"leader_elect_lease_duration": 1.0, "leader_elect_renew_deadline": 0.6}
"""For tests that wait for the end of a lease."""
lasting_a_second = pytest.mark.parametrize("pair", [SHORT], indirect=True, ids=["short"])


@pytest.fixture
async def pair(request: pytest.FixtureRequest) -> AsyncIterator[list[Server]]:
    """Run two servers over one log, which elect one of them."""
    truth = Truth()
    times = TIMES | getattr(request, "param", {})
    servers = [Server(Config(port=0, **times), LateLog(truth)) for _ in range(2)]
    for server in servers:
        await server.start()
    yield servers
    for server in servers:
        await server.stop()


def election(server: Server) -> Leader:
    """Return the part of a server in the election."""
    assert server.app.manager._leader is not None
    return server.app.manager._leader


def leads(server: Server) -> bool:
    return bool(server.controllers)


async def one_leads(servers: list[Server]) -> tuple[Server, Server]:
    """Wait until one server leads; return it and the other one."""

    async def elected() -> bool:
        assert sum(map(leads, servers)) < 2
        return any(map(leads, servers))

    await until(elected)
    return (servers[0], servers[1]) if leads(servers[0]) else (servers[1], servers[0])


async def lease(server: Server) -> dict[str, Any]:
    async with aiohttp.ClientSession(server.url) as api:
        found: dict[str, Any] = (await get(api, LEASE))["spec"]
        return found


async def test_one_server_runs_the_controllers(pair: list[Server]) -> None:
    leader, other = await one_leads(pair)
    spec = await lease(other)
    assert spec["holderIdentity"] == election(leader).identity
    assert (spec["leaseDurationSeconds"], spec["leaseTransitions"]) == (15, 0)
    first = spec["renewTime"]

    async def renewed() -> bool:
        return bool((await lease(other))["renewTime"] > first)

    await until(renewed)
    assert (leads(leader), leads(other)) == (True, False)
    async with aiohttp.ClientSession(other.url) as api:
        # The leader's controllers work for all servers.
        await post(api, "/api/v1/namespaces", {"metadata": {"name": "short"}})
        async with api.delete("/api/v1/namespaces/short") as r:
            assert r.status == 200

        async def gone() -> bool:
            async with api.get("/api/v1/namespaces/short") as r:
                return r.status == 404

        await until(gone)


async def test_a_server_that_stops_hands_over_at_once(pair: list[Server]) -> None:
    leader, other = await one_leads(pair)
    await leader.stop()
    assert (await lease(other))["holderIdentity"] in ("", election(other).identity)

    async def taken_over() -> bool:
        return leads(other)

    await until(taken_over)
    assert (await lease(other))["leaseTransitions"] == 1


@lasting_a_second
async def test_a_server_that_falls_silent_is_replaced(pair: list[Server]) -> None:
    leader, other = await one_leads(pair)
    task = election(leader)._task
    assert task is not None
    task.cancel()

    async def taken_over() -> bool:
        return leads(other)

    begun = asyncio.get_running_loop().time()
    await until(taken_over)
    assert asyncio.get_running_loop().time() - begun > 0.5


@lasting_a_second
async def test_a_server_without_its_log_stops_its_controllers_in_time(
    pair: list[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    leader, other = await one_leads(pair)

    async def never() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(election(leader), "_attempt", never)

    async def taken_over() -> bool:
        assert not (leads(leader) and leads(other))
        return leads(other)

    await until(taken_over)
    assert not leads(leader)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"leader_elect_lease_duration": 0.5}, "--leader-elect-lease-duration must be greater than"),
        ({"leader_elect_renew_deadline": 0.05}, "--leader-elect-renew-deadline must be greater than"),
        ({"leader_elect_retry_period": 0.0}, "--leader-elect-retry-period must be greater than zero"),
    ],
)
async def test_times_that_contradict_each_other_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(StartError, match=words):
        await Server(Config(port=0, **(TIMES | given))).start()
