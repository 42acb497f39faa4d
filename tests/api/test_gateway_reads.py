"""Reads through a gateway: the answers of the upstream, from a view that costs it one watch a resource."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import orjson
import pytest

from tests.api.upstreams import Pair, pair

CORE = "/api/v1/namespaces/default"
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
METADATA = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
PROTOBUF = {"Accept": "application/vnd.kubernetes.protobuf"}
CBOR = {"Accept": "application/cbor"}


@pytest.fixture
async def both(tmp_path: Path) -> AsyncIterator[Pair]:
    """A gateway before a server without credentials."""
    async with pair(tmp_path) as found:
        yield found


@pytest.fixture
async def there(both: Pair) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(both.upstream.url) as session:
        yield session


@pytest.fixture
async def here(both: Pair) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(both.gateway.url) as session:
        yield session


def config_map(name: str, value: str = "v") -> dict[str, object]:
    return {"metadata": {"name": name, "labels": {"app": value}}, "data": {"k": value}}


async def create(session: aiohttp.ClientSession, *names: str) -> list[int]:
    """Create config maps; return their versions."""
    versions = []
    for name in names:
        async with session.post(f"{CORE}/configmaps", json=config_map(name, name)) as answer:
            assert answer.status == 201
            versions.append(int((await answer.json())["metadata"]["resourceVersion"]))
    return versions


async def body(session: aiohttp.ClientSession, path: str, headers: dict[str, str] | None = None) -> bytes:
    async with session.get(path, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.read()


@pytest.mark.parametrize("headers", [{}, TABLE, METADATA, PROTOBUF], ids=["json", "table", "metadata", "protobuf"])
async def test_answers_are_those_of_the_upstream(
    both: Pair, here: aiohttp.ClientSession, there: aiohttp.ClientSession, headers: dict[str, str]
) -> None:
    (*_, last) = await create(there, "a", "b", "c")
    # The last write was to this resource, so that the view is as new as the upstream.
    for path in (
        f"{CORE}/configmaps?resourceVersion={last}",
        f"/api/v1/configmaps?resourceVersion={last}&labelSelector=app+in+(a,b)",
        f"{CORE}/configmaps?fieldSelector=metadata.name%3Db&resourceVersion={last}",
        f"{CORE}/configmaps?limit=2&resourceVersion={last}&resourceVersionMatch=Exact",
    ):
        assert await body(here, path, headers) == await body(there, path, headers), path
    assert both.asked("/configmaps?resourceVersion") == [], "nothing of it was passed on"


async def test_a_writer_reads_its_own_write(both: Pair, here: aiohttp.ClientSession) -> None:
    """Also where any version would do."""
    for number in range(20):
        await create(here, f"own-{number}")
        async with here.get(f"{CORE}/configmaps/own-{number}?resourceVersion=0") as answer:
            assert answer.status == 200
        async with here.delete(f"{CORE}/configmaps/own-{number}") as answer:
            assert answer.status == 200
        async with here.get(f"{CORE}/configmaps/own-{number}") as answer:
            assert answer.status == 404


async def test_pages_continue_here_and_there(here: aiohttp.ClientSession, there: aiohttp.ClientSession) -> None:
    await create(there, "a", "b", "c")
    page = orjson.loads(await body(here, f"{CORE}/configmaps?limit=2"))
    token = page["metadata"]["continue"]
    # Tokens of either server mean the same to the other one.
    rest = [await body(session, f"{CORE}/configmaps?limit=2&continue={token}") for session in (here, there)]
    assert rest[0] == rest[1]
    names = [item["metadata"]["name"] for item in page["items"] + orjson.loads(rest[0])["items"]]
    assert names == ["a", "b", "c"]


async def test_one_watch_a_resource(both: Pair, here: aiohttp.ClientSession, there: aiohttp.ClientSession) -> None:
    (first,) = await create(there, "a")
    streams = [await here.get(f"/api/v1/configmaps?watch=true&resourceVersion={first}") for _ in range(20)]
    (second,) = await create(there, "b")
    for stream in streams:
        event = orjson.loads(await stream.content.readline())
        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "b")
        assert event["object"]["metadata"]["resourceVersion"] == str(second)
        stream.close()
    assert len(both.asked("/api/v1/configmaps?watch")) == 1
    assert len(both.asked("GET /api/v1/configmaps?")) == 1, "it is list and watch in one"


async def test_a_watch_with_initial_events(here: aiohttp.ClientSession, there: aiohttp.ClientSession) -> None:
    await create(there, "a")
    path = f"{CORE}/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1"
    seen = []
    async with here.get(path) as stream:
        async for line in stream.content:
            event = orjson.loads(line)
            seen.append(event["type"])
            if event["type"] == "BOOKMARK":
                break
    assert seen == ["ADDED", "BOOKMARK"]
    assert event["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_fresh_reads_share_a_question(
    both: Pair, here: aiohttp.ClientSession, there: aiohttp.ClientSession
) -> None:
    await create(there, "a")
    both.between.delay = 0.05
    before = len(both.asked("limit=1"))
    found = await asyncio.gather(*(body(here, f"{CORE}/configmaps/a") for _ in range(50)))
    assert len(set(found)) == 1
    assert len(both.asked("limit=1")) - before <= 2
    assert both.asked("/configmaps/a") == []


async def test_a_quiet_resource_is_read_there_once_for_all(
    both: Pair, here: aiohttp.ClientSession, there: aiohttp.ClientSession
) -> None:
    """Versions of other resources pass it, and no bookmark tells that it has no event."""
    await create(there, "a")
    async with there.post("/api/v1/namespaces", json={"metadata": {"name": "other"}}) as answer:
        assert answer.status == 201
    path = "/api/v1/pods?labelSelector=x"
    both.between.delay = 0.02
    found = await asyncio.gather(*(body(here, path) for _ in range(20)))
    assert len(set(found)) == 1
    assert 1 <= len(both.asked(path)) <= 2


async def test_a_version_of_zero_costs_nothing(both: Pair, here: aiohttp.ClientSession) -> None:
    # The first review of the caller is kept.
    await body(here, "/api/v1/pods?resourceVersion=0")
    before = len([line for line in both.between.requests if "/readyz" not in line])
    for _ in range(10):
        await body(here, "/api/v1/pods?resourceVersion=0")
    assert len([line for line in both.between.requests if "/readyz" not in line]) == before


async def test_errors_are_the_upstream_s(here: aiohttp.ClientSession, there: aiohttp.ClientSession) -> None:
    for path in (
        f"{CORE}/configmaps?labelSelector=!!",
        f"{CORE}/pods?fieldSelector=spec.nope%3Da",
        f"{CORE}/configmaps?resourceVersion=x",
        f"{CORE}/configmaps?watch=1&resourceVersion=1",
        "/api/v1/nothing",
        f"{CORE}/configmaps/absent",
        "/apis/example.com/v1/widgets",
        "/nowhere",
    ):
        async with here.get(path) as one, there.get(path) as other:
            assert (one.status, await one.read()) == (other.status, await other.read()), path
            assert one.content_type == other.content_type


async def test_everything_else_is_passed_on(here: aiohttp.ClientSession, there: aiohttp.ClientSession) -> None:
    for path in ("/version", "/api", "/apis", "/openapi/v2", "/openapi/v3", "/.well-known/openid-configuration"):
        async with here.get(path) as one, there.get(path) as other:
            assert (one.status, await one.read()) == (other.status, await other.read()), path
    async with here.head("/version") as answer:
        assert (answer.status, await answer.read()) == (405, b"")
    patch = {"Content-Type": "application/merge-patch+json"}
    await create(here, "a")
    async with here.patch(f"{CORE}/configmaps/a", data=b'{"data":{"k":"w"}}', headers=patch) as answer:
        assert (answer.status, (await answer.json())["data"]) == (200, {"k": "w"})


async def test_metrics_say_where_reads_were_answered(
    both: Pair, here: aiohttp.ClientSession, there: aiohttp.ClientSession
) -> None:
    await create(there, "a")
    await body(here, f"{CORE}/configmaps/a")
    await body(here, "/api/v1/configmaps?resourceVersion=0")
    found = await both.metrics()
    assert found["hydrofoil_upstream_up"] == 1
    assert found['hydrofoil_upstream_reads_total{answered="here",verb="get"}'] == 1
    assert found['hydrofoil_upstream_reads_total{answered="here",verb="list"}'] == 1
    assert found['hydrofoil_upstream_view_objects{group="",resource="configmaps",version="v1"}'] == 2
    assert found['hydrofoil_upstream_reviews_total{kind="access",result="allowed"}'] == 3, "that of the metrics, too"


async def test_informers_of_a_quiet_resource_are_no_watch_there(
    both: Pair, here: aiohttp.ClientSession, there: aiohttp.ClientSession
) -> None:
    """They ask for the present state, which no event shows to be as new as the upstream's version."""
    async with there.post("/api/v1/namespaces", json={"metadata": {"name": "other"}}) as answer:
        assert answer.status == 201
    path = "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    streams = await asyncio.gather(*(here.get(path) for _ in range(20)))
    for stream in streams:
        event = orjson.loads(await stream.content.readline())
        assert event["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        stream.close()
    assert both.asked(path) == []
    assert len(both.asked("GET /api/v1/pods?")) <= 5
