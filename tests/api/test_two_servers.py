"""Two servers over one log, whose events reach each of them late and from another thread."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.calls import get, post
from tests.contract.late import LateLog, Truth

MAPS = "/api/v1/namespaces/{}/configmaps"
DEFAULT = MAPS.format("default")
JSON = {"Content-Type": "application/json"}
Session = aiohttp.ClientSession
Two = tuple[Session, Session]


@pytest.fixture
def logs() -> tuple[LateLog, LateLog]:
    truth = Truth()
    return LateLog(truth), LateLog(truth)


@pytest.fixture
async def two(logs: tuple[LateLog, LateLog]) -> AsyncIterator[Two]:
    async with AsyncExitStack() as stack:
        sessions = []
        for log in logs:
            server = Server(Config(port=0), log)
            await server.start()
            stack.push_async_callback(server.stop)
            sessions.append(await stack.enter_async_context(Session(server.url, headers=JSON)))
        yield sessions[0], sessions[1]


def configmap(name: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data}


async def read(answer: aiohttp.ClientResponse, count: int) -> list[tuple[str, str, str]]:
    """The next events of a stream: kind, name, version."""
    found = []
    for _ in range(count):
        event = json.loads(await answer.content.readline())
        metadata = event["object"]["metadata"]
        found.append((event["type"], metadata["name"], metadata["resourceVersion"]))
    return found


async def test_what_one_writes_the_other_reads_at_once(two: Two) -> None:
    one, other = two
    made = await post(one, DEFAULT, configmap("x", k="1"))
    assert await get(other, f"{DEFAULT}/x") == made
    listed = await get(other, DEFAULT)
    assert "x" in [item["metadata"]["name"] for item in listed["items"]]
    assert listed["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    version = {"resourceVersion": made["metadata"]["resourceVersion"]}
    async with other.get(DEFAULT, params=version | {"resourceVersionMatch": "Exact"}) as r:
        assert (await r.json())["items"] == listed["items"]


async def test_a_write_is_judged_by_what_is_true(two: Two) -> None:
    """A view that does not know the object yet, or only an older state of it, refuses nothing."""
    one, other = two
    await post(one, "/api/v1/namespaces", {"metadata": {"name": "new"}})
    made = await post(other, MAPS.format("new"), configmap("x"))
    made["data"] = {"k": "1"}
    async with one.put(f"{MAPS.format('new')}/x", json=made) as r:
        assert r.status == 200
        changed = await r.json()
    async with other.put(f"{MAPS.format('new')}/x", json=made) as r:
        assert (r.status, (await r.json())["reason"]) == (409, "Conflict")
    changed["data"] = {"k": "2"}
    async with other.put(f"{MAPS.format('new')}/x", json=changed) as r:
        assert r.status == 200
    await post(one, MAPS.format("new"), configmap("x"), 409)
    async with one.delete(f"{MAPS.format('new')}/x") as r:
        assert r.status == 200
    await post(other, MAPS.format("new"), configmap("x"))


async def test_writers_on_both_lose_nothing(two: Two) -> None:
    await post(two[0], DEFAULT, configmap("count"))

    async def write(api: Session, number: int) -> None:
        patch = json.dumps({"data": {f"k{number}": "v"}})
        headers = {"Content-Type": "application/merge-patch+json"}
        async with api.patch(f"{DEFAULT}/count", data=patch, headers=headers) as r:
            assert r.status == 200

    await asyncio.gather(*(write(two[i % 2], i) for i in range(20)))
    found = [await get(api, f"{DEFAULT}/count") for api in two]
    assert found[0] == found[1]
    assert found[0]["data"] == {f"k{i}": "v" for i in range(20)}


async def test_watches_of_both_tell_the_same(two: Two) -> None:
    one, other = two
    begin = (await get(one, DEFAULT))["metadata"]["resourceVersion"]
    params = {"watch": "1", "resourceVersion": begin}
    async with one.get(DEFAULT, params=params) as mine, other.get(DEFAULT, params=params) as theirs:
        for i in range(4):
            await post(two[i % 2], DEFAULT, configmap(f"n{i}"))
        async with other.delete(f"{DEFAULT}/n0") as r:
            assert r.status == 200
        told = await read(mine, 5)
        assert await read(theirs, 5) == told
    assert [(kind, name) for kind, name, _ in told] == [
        ("ADDED", "n0"),
        ("ADDED", "n1"),
        ("ADDED", "n2"),
        ("ADDED", "n3"),
        ("DELETED", "n0"),
    ]
    # A watch that broke off goes on at the other server.
    params["resourceVersion"] = told[1][2]
    async with other.get(DEFAULT, params=params) as again:
        assert await read(again, 3) == told[2:]


async def test_pages_of_one_go_on_at_the_other(two: Two) -> None:
    for i in range(4):
        await post(two[0], DEFAULT, configmap(f"n{i}"))
    first = await get(two[0], f"{DEFAULT}?limit=2")
    await post(two[0], DEFAULT, configmap("n1b"))
    async with two[1].get(DEFAULT, params={"limit": "9", "continue": first["metadata"]["continue"]}) as r:
        rest = await r.json()
    names = [item["metadata"]["name"] for item in first["items"] + rest["items"]]
    assert [name for name in names if name.startswith("n")] == ["n0", "n1", "n2", "n3"]


async def test_reads_wait_for_a_view_that_is_behind(two: Two, logs: tuple[LateLog, LateLog]) -> None:
    one, other = two
    logs[1].feed.hold()
    made = await post(one, DEFAULT, configmap("x"))
    version = made["metadata"]["resourceVersion"]
    paths = [f"{DEFAULT}/x", f"{DEFAULT}/x?resourceVersion={version}", DEFAULT]
    reads = [asyncio.ensure_future(get(other, path)) for path in paths]
    # Whoever asks for any version is answered with what is there.
    async with other.get(f"{DEFAULT}/x?resourceVersion=0") as r:
        assert r.status == 404
    assert not any(read.done() for read in reads)
    logs[1].feed.go()
    found = await asyncio.gather(*reads)
    assert found[0] == found[1] == made
    assert made["metadata"] in [item["metadata"] for item in found[2]["items"]]


async def test_a_version_that_is_never_reached_is_too_large(two: Two) -> None:
    async with two[0].get(f"{DEFAULT}?resourceVersion=8999999999999999") as r:
        status = await r.json()
    assert (r.status, status["reason"]) == (504, "Timeout")
    assert status["message"].startswith("Timeout: Too large resource version: 8999999999999999, current: ")


async def test_what_services_hold_on_one_is_taken_on_the_other(two: Two) -> None:
    """Addresses and ports follow the services that there are, whoever wrote them."""
    one, other = two
    services = "/api/v1/namespaces/default/services"
    spec = {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30111}], "clusterIP": "10.0.0.77"}
    await post(one, services, {"metadata": {"name": "a"}, "spec": spec})
    for taken in ({"clusterIP": "10.0.0.77"}, {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30111}]}):
        refused = {"ports": [{"port": 80}], **taken}
        answer = await post(other, services, {"metadata": {"name": "b"}, "spec": refused}, 422)
        assert "provided" in answer["message"]
    async with other.delete(f"{services}/a") as r:
        assert r.status == 200
    made = await post(one, services, {"metadata": {"name": "b"}, "spec": spec})
    assert made["spec"]["clusterIP"] == "10.0.0.77"


async def test_conditions_follow_what_the_other_writes(two: Two) -> None:
    """A flow schema dangles until its level comes, on whichever server."""
    one, other = two
    path = "/apis/flowcontrol.apiserver.k8s.io/v1"
    schema = {"metadata": {"name": "s"}, "spec": {"priorityLevelConfiguration": {"name": "l"}}}
    await post(one, f"{path}/flowschemas", schema)

    async def dangles(api: Session) -> str:
        found = await get(api, f"{path}/flowschemas/s")
        return str(found["status"]["conditions"][0]["status"])

    assert await dangles(one) == await dangles(other) == "True"
    limited = {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}
    await post(other, f"{path}/prioritylevelconfigurations", {"metadata": {"name": "l"}, "spec": limited})
    assert await dangles(other) == "False"
    assert await dangles(one) == "False"
