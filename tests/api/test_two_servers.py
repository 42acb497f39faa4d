"""Two servers over one log, whose events reach each of them late and from another thread."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from hydrofoil.storage.log import key
from tests.api.calls import get, post
from tests.contract.late import LateLog, Truth

MAPS = "/api/v1/namespaces/{}/configmaps"
DEFAULT = MAPS.format("default")
JSON = {"Content-Type": "application/json"}
Session = aiohttp.ClientSession
Two = tuple[Session, Session]
Start = Callable[[], Awaitable[Session]]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
THINGS = "/apis/e.com/v1/namespaces/default/things"


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


@pytest.fixture
async def third(two: Two, logs: tuple[LateLog, LateLog]) -> AsyncIterator[Start]:
    """Start one more server over the same log."""
    async with AsyncExitStack() as stack:

        async def start() -> Session:
            server = Server(Config(port=0), LateLog(logs[0].truth))
            await server.start()
            stack.push_async_callback(server.stop)
            return await stack.enter_async_context(Session(server.url, headers=JSON))

        yield start


def configmap(name: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data}


async def read(answer: aiohttp.ClientResponse, count: int) -> list[tuple[str, str, str]]:
    """Return the next events of a stream: kind, name, version."""
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
        reported = await read(mine, 5)
        assert await read(theirs, 5) == reported
    assert [(kind, name) for kind, name, _ in reported] == [
        ("ADDED", "n0"),
        ("ADDED", "n1"),
        ("ADDED", "n2"),
        ("ADDED", "n3"),
        ("DELETED", "n0"),
    ]
    # A watch that broke off continues at the other server.
    params["resourceVersion"] = reported[1][2]
    async with other.get(DEFAULT, params=params) as again:
        assert await read(again, 3) == reported[2:]


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
    # A read at any version is answered with the present state.
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
    """Addresses and ports follow the present services, whichever server wrote them."""
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
    """A flow schema dangles until its level exists, on whichever server."""
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


async def test_one_level_ends_the_dangling_of_many_schemas(two: Two) -> None:
    """Each written condition waits for no other: one loop writes them all."""
    one, other = two
    path = "/apis/flowcontrol.apiserver.k8s.io/v1"
    for i in range(3):
        spec = {"priorityLevelConfiguration": {"name": "l"}}
        await post(one, f"{path}/flowschemas", {"metadata": {"name": f"s{i}"}, "spec": spec})
    limited = {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}
    async with asyncio.timeout(20):
        await post(other, f"{path}/prioritylevelconfigurations", {"metadata": {"name": "l"}, "spec": limited})
    for i in range(3):
        found = await get(other, f"{path}/flowschemas/s{i}")
        assert found["status"]["conditions"][0]["status"] == "False"


# Definitions


def definition(plural: str = "things", kind: str = "Thing", **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **more}
    names = {"plural": plural, "kind": kind}
    spec = {"group": "e.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": f"{plural}.e.com"}, "spec": spec}


def thing(name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "e.com/v1", "kind": "Thing", "metadata": {"name": name}, **more}


async def delete(api: Session, path: str) -> dict[str, Any]:
    async with api.delete(path) as r:
        assert r.status == 200
        found: dict[str, Any] = await r.json()
        return found


async def gone(api: Session, path: str) -> None:
    """Wait until nothing is under a path."""
    async with asyncio.timeout(10):
        while True:
            async with api.get(path) as r:
                if r.status == 404:
                    return


async def test_a_definition_of_one_is_served_by_the_other_at_once(two: Two) -> None:
    one, other = two
    await post(one, CRDS, definition())
    made = await post(other, THINGS, thing("a"))
    assert await get(one, f"{THINGS}/a") == made
    groups = await asyncio.gather(*(get(api, "/apis/e.com") for api in two))
    assert groups[0] == groups[1]
    services = await asyncio.gather(*(get(api, f"{SERVICES}/v1.e.com") for api in two))
    assert services[0] == services[1]
    assert services[0]["status"]["conditions"][0]["reason"] == "Local"


async def test_a_definition_that_goes_is_gone_on_both(two: Two) -> None:
    one, other = two
    for i in range(3):
        await post(two[i % 2], CRDS, definition())
        await post(one, THINGS, thing("a"))
        await post(other, THINGS, thing("b"))
        async with other.get(THINGS, params={"watch": "1", "sendInitialEvents": "false"}) as _:
            await delete(two[i % 2], f"{CRDS}/things.e.com")
            await gone(two[i % 2], f"{CRDS}/things.e.com")
        for api in two:
            async with api.get(THINGS) as r:
                assert r.status == 404
            async with api.get(f"{SERVICES}/v1.e.com") as r:
                assert r.status == 404


async def test_streams_of_the_other_end_when_a_definition_changes(two: Two) -> None:
    one, other = two
    made = await post(one, CRDS, definition())
    async with other.get(THINGS, params={"watch": "1"}) as stream:
        await post(other, THINGS, thing("a"))
        assert json.loads(await stream.content.readline())["type"] == "ADDED"
        body = definition(additionalPrinterColumns=[{"name": "N", "type": "string", "jsonPath": ".n"}])
        body["metadata"]["resourceVersion"] = (await get(one, f"{CRDS}/things.e.com"))["metadata"]["resourceVersion"]
        async with one.put(f"{CRDS}/things.e.com", json=body) as r:
            assert r.status == 200
        async with asyncio.timeout(30):
            assert await stream.content.readline() == b""
    assert made["spec"] != (await get(other, f"{CRDS}/things.e.com"))["spec"]


async def test_both_work_on_a_definition_and_agree(two: Two) -> None:
    """Its status is written once, and the names of a deleted one are free on both."""
    one, other = two
    await post(one, CRDS, definition())
    refused = definition("others", "Thing")
    await post(other, CRDS, refused)
    found = [await get(api, f"{CRDS}/others.e.com") for api in two]
    assert found[0] == found[1]
    first = found[0]["status"]["conditions"][0]
    assert (first["type"], first["status"]) == ("NamesAccepted", "False")
    before = (await get(one, f"{CRDS}/things.e.com"))["metadata"]["resourceVersion"]
    await delete(one, f"{CRDS}/things.e.com")
    await gone(other, f"{CRDS}/things.e.com")
    async with asyncio.timeout(10):
        while (await get(other, f"{CRDS}/others.e.com"))["status"]["conditions"][0]["status"] != "True":
            """The names become free when the other one has gone."""
    others = THINGS.replace("things", "others")
    made = await post(one, others, thing("a"))
    assert await get(other, f"{others}/a") == made
    async with other.get(CRDS, params={"watch": "1", "resourceVersion": before}) as stream:
        states = [json.loads(await stream.content.readline())["object"]["metadata"] for _ in range(3)]
    assert len({(m["name"], m["resourceVersion"]) for m in states}) == 3


async def test_a_server_that_starts_later_serves_what_there_is(two: Two, third: Start) -> None:
    await post(two[0], CRDS, definition())
    made = await post(two[1], THINGS, thing("a", color="red"))
    body = definition(selectableFields=[{"jsonPath": ".color"}])
    schema = body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"] = {"color": {"type": "string"}}
    body["metadata"]["resourceVersion"] = (await get(two[0], f"{CRDS}/things.e.com"))["metadata"]["resourceVersion"]
    async with two[0].put(f"{CRDS}/things.e.com", json=body) as r:
        assert r.status == 200
    api = await third()
    async with api.get(f"{THINGS}/a", params={"resourceVersion": "0"}) as r:
        assert (r.status, await r.json()) == (200, made)
    for server in (*two, api):
        red = await get(server, f"{THINGS}?fieldSelector=color%3Dred")
        assert [item["metadata"]["name"] for item in red["items"]] == ["a"]
        assert (await get(server, f"{THINGS}?fieldSelector=color%3Dblue"))["items"] == []
    assert await get(api, f"{SERVICES}/v1.e.com") == await get(two[0], f"{SERVICES}/v1.e.com")
    assert await get(api, SERVICES) == await get(two[0], SERVICES)


async def test_a_server_that_lost_its_place_serves_what_there_is(two: Two, logs: tuple[LateLog, LateLog]) -> None:
    one, other = two
    await post(one, CRDS, definition())
    await post(one, CRDS, definition("others", "Other"))
    await get(other, "/apis/e.com/v1")
    logs[1].feed.hold()
    await delete(one, f"{CRDS}/others.e.com")
    await gone(one, f"{CRDS}/others.e.com")
    await post(one, CRDS, definition("news", "New"))
    for name in ("apiextensions.k8s.io", "customresourcedefinitions"), ("apiregistration.k8s.io", "apiservices"):
        logs[1].feed.lose(key(name))
    logs[1].feed.go()
    for api in two:
        found = await get(api, "/apis/e.com/v1")
        assert sorted(r["name"] for r in found["resources"]) == ["news", "things"]


async def test_what_is_aggregated_is_known_to_both(two: Two) -> None:
    one, other = two
    service = {"namespace": "default", "name": "nobody"}
    spec = {"group": "far.com", "version": "v1", "groupPriorityMinimum": 10, "versionPriority": 10, "service": service}
    spec["insecureSkipTLSVerify"] = True
    await post(one, SERVICES, {"metadata": {"name": "v1.far.com"}, "spec": spec})
    for api in two:
        async with api.get("/apis/far.com/v1/things") as r:
            assert r.status == 503
    await delete(other, f"{SERVICES}/v1.far.com")
    for api in two:
        async with api.get("/apis/far.com/v1/things") as r:
            assert r.status == 404


async def test_addresses_and_ports_are_given_once(two: Two) -> None:
    """Two servers that choose at the same time choose apart, or one of them is refused."""
    services = "/api/v1/namespaces/default/services"

    def service(name: str, **spec: Any) -> dict[str, Any]:
        return {"metadata": {"name": name}, "spec": {"type": "NodePort", "ports": [{"port": 80}], **spec}}

    async def create(number: int) -> dict[str, Any]:
        async with two[number % 2].post(services, json=service(f"s{number}")) as r:
            assert r.status == 201, await r.text()
            made: dict[str, Any] = await r.json()
            return made

    made = await asyncio.gather(*(create(i) for i in range(40)))
    assert len({m["spec"]["clusterIP"] for m in made}) == len({m["spec"]["ports"][0]["nodePort"] for m in made}) == 40
    wishes: dict[str, Any] = {"clusterIP": "10.0.0.3", "ports": [{"port": 80, "nodePort": 31111}]}
    for member, value in wishes.items():
        wish = {member: value}
        codes = []
        for number, api in enumerate(two):
            async with api.post(services, json=service(f"{member.lower()}{number}", **wish)) as r:
                codes.append(r.status)
                if r.status == 422:
                    assert "already allocated" in (await r.json())["message"]
        assert codes == [201, 422]
    for number, api in enumerate(two):
        async with api.delete(f"{services}/{'clusterip' if number else 'ports'}0") as r:
            assert r.status == 200
    for api in reversed(two):
        async with api.post(services, json=service("again", **wishes)) as r:
            assert r.status == 201, await r.text()
        async with api.delete(f"{services}/again") as r:
            assert r.status == 200
