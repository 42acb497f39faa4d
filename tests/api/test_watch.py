"""Watches over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from hydrofoil import Server

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


async def events(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    async for line in response.content:
        yield json.loads(line)


async def create(api: aiohttp.ClientSession, name: str, **labels: str) -> dict[str, Any]:
    async with api.post(CONFIGMAPS, json={"metadata": {"name": name, "labels": labels}}) as r:
        assert r.status == 201
        made: dict[str, Any] = await r.json()
        return made


async def test_list_then_watch_misses_nothing(api: aiohttp.ClientSession) -> None:
    """WA-05, WA-07: writers race with the list; replaying the watch gives the final list."""

    async def write(i: int) -> None:
        await create(api, f"w{i:03}")

    writers = [asyncio.create_task(write(i)) for i in range(100)]
    async with api.get(CONFIGMAPS) as r:
        seen = await r.json()
    state = {o["metadata"]["name"] for o in seen["items"]}
    version = seen["metadata"]["resourceVersion"]
    await asyncio.gather(*writers)
    async with api.get(f"{CONFIGMAPS}?watch=1&resourceVersion={version}") as r:
        async for event in events(r):
            assert event["type"] == "ADDED"
            assert event["object"]["metadata"]["name"] not in state
            state.add(event["object"]["metadata"]["name"])
            if len(state) == 100:
                break


async def test_selector_transitions(api: aiohttp.ClientSession) -> None:
    made = await create(api, "s", app="x")
    url = f"{CONFIGMAPS}?watch=1&labelSelector=app%3Dx&resourceVersion={made['metadata']['resourceVersion']}"
    async with api.get(url) as r:
        for label in ("y", "x"):
            made["metadata"]["labels"] = {"app": label}
            del made["metadata"]["resourceVersion"]
            async with api.put(f"{CONFIGMAPS}/s", json=made) as put:
                made = await put.json()
        stream = events(r)
        left = await anext(stream)
        assert (left["type"], left["object"]["metadata"]["labels"]) == ("DELETED", {"app": "x"})
        assert (await anext(stream))["type"] == "ADDED"


async def test_initial_events_end_with_a_bookmark(api: aiohttp.ClientSession) -> None:
    """WA-17, WA-18, WA-20."""
    for name in ("b", "a"):
        await create(api, name)
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with api.get(f"{CONFIGMAPS}?{query}") as r:
        stream = events(r)
        assert [(await anext(stream))["object"]["metadata"]["name"] for _ in range(2)] == ["a", "b"]
        mark = await anext(stream)
        assert mark["type"] == "BOOKMARK"
        assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        await create(api, "c")
        assert (await anext(stream))["object"]["metadata"]["name"] == "c"


async def test_old_version_is_one_error_event(api: aiohttp.ClientSession) -> None:
    """WA-10, RV-35."""
    async with api.get(f"{CONFIGMAPS}?watch=1&resourceVersion=5") as r:
        assert r.status == 200
        got = [event async for event in events(r)]
    assert [e["type"] for e in got] == ["ERROR"]
    assert got[0]["object"]["code"] == 410


async def test_stops_at_its_timeout(api: aiohttp.ClientSession) -> None:
    """WA-26."""
    async with api.get(f"{CONFIGMAPS}?watch=1&timeoutSeconds=1") as r:
        assert [event async for event in events(r)] == []


async def test_websocket(api: aiohttp.ClientSession) -> None:
    await create(api, "ws")
    async with api.ws_connect(f"{CONFIGMAPS}?watch=1", protocols=("any.k8s.io",)) as socket:
        assert socket.protocol == "any.k8s.io"
        assert json.loads(await socket.receive_str())["object"]["metadata"]["name"] == "ws"
        await socket.send_str("what a client says is ignored")
        for name in ("ws-1", "ws-2"):
            await create(api, name)
        for name in ("ws-1", "ws-2"):
            text = await socket.receive_str()
            assert text.endswith("\n")
            assert json.loads(text)["object"]["metadata"]["name"] == name


async def test_websocket_of_binary_events(api: aiohttp.ClientSession) -> None:
    """One message an event, without the length prefix that each has over HTTP."""
    for name in ("ws-a", "ws-b"):
        await create(api, name)
    headers = {"Accept": "application/vnd.kubernetes.protobuf"}
    async with api.ws_connect(f"{CONFIGMAPS}?watch=1", headers=headers) as socket:
        for name in ("ws-a", "ws-b"):
            data = await socket.receive_bytes()
            assert data.startswith(b"\n\x05ADDED\x12")
            assert name.encode() in data
    async with api.ws_connect(f"{CONFIGMAPS}?watch=1&resourceVersion=5", headers=headers) as socket:
        assert b"too old resource version" in await socket.receive_bytes()


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/v1/namespaces/kube-public/configmaps", ""),
        (CONFIGMAPS, "&fieldSelector=metadata.name%3Dchosen"),
        ("/api/v1/secrets", "&fieldSelector=type%3Dchosen"),
    ],
)
async def test_events_of_others_are_no_gap(path: str, query: str) -> None:
    """WA-15: a narrow watch is as far as a wide one, however much the history forgets, as its bookmarks report."""
    chosen = {"metadata": {"name": "chosen"}, "type": "chosen"}
    async with (
        Server(clock="2026-01-01T00:00:00Z", history_events=10) as server,
        server.session() as api,
        api.get(f"{path}?watch=1&allowWatchBookmarks=1&resourceVersion=0{query}") as r,
    ):
        stream = events(r)
        for round in range(2):
            for number in range(20):
                for resource in ("configmaps", "secrets"):
                    body = {"metadata": {"name": f"m{round}-{number}"}}
                    async with api.post(f"/api/v1/namespaces/default/{resource}", json=body) as made:
                        version = int((await made.json())["metadata"]["resourceVersion"])
            server.clock.advance(61)
            mark = await anext(stream)
            while "creationTimestamp" in mark["object"]["metadata"] or "annotations" in mark["object"]["metadata"]:
                # The initial state and its end.
                mark = await anext(stream)
            assert mark["type"] == "BOOKMARK"
            assert int(mark["object"]["metadata"]["resourceVersion"]) >= version - 1
        where = path if "namespaces" in path else "/api/v1/namespaces/default/secrets"
        async with api.post(where, json=chosen if "secrets" in path else {"metadata": chosen["metadata"]}) as made:
            assert made.status == 201, await made.text()
        event = await anext(stream)
        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "chosen")
