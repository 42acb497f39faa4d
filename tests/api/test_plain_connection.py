"""A server on a version of aiohttp that lacks the private names of the fast way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import aiohttp
import orjson
import pytest

from hydrofoil.endpoints import connection, plain_connection
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.secure import port_of, serving

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> AsyncIterator[Server]:
    monkeypatch.setattr(connection, "PRIVATES", (*connection.PRIVATES, "_gone_one"))
    with caplog.at_level(logging.WARNING):
        async with serving(Config(port=0, controllers="")) as found:
            assert "_gone_one, which the fast way of requests needs" in caplog.text
            yield found


@pytest.fixture
async def api(server: Server) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port_of(server)}") as found:
        yield found


def test_this_version_has_all() -> None:
    assert plain_connection.missing_names() == []


async def test_objects_are_written_read_and_watched(api: aiohttp.ClientSession) -> None:
    async with api.get(MAPS, params={"watch": "1", "timeoutSeconds": "20"}) as events:
        for number in range(3):
            body = {"metadata": {"name": f"m{number}"}, "data": {"a": "x" * 100_000}}
            async with api.post(MAPS, json=body) as answer:
                assert answer.status == 201
        seen = [orjson.loads(await events.content.readline())["object"]["metadata"]["name"] for _ in range(3)]
        assert seen == ["m0", "m1", "m2"]
    async with api.get(MAPS) as answer:
        assert [item["metadata"]["name"] for item in (await answer.json())["items"]] == seen
    patch = {"Content-Type": "application/merge-patch+json"}
    async with api.patch(f"{MAPS}/m1", json={"data": {"b": "c"}}, headers=patch) as answer:
        assert (await answer.json())["data"]["b"] == "c"
    async with api.delete(f"{MAPS}/m1") as answer:
        assert answer.status == 200
    async with api.get(f"{MAPS}/m1") as answer:
        assert (answer.status, (await answer.json())["reason"]) == (404, "NotFound")


async def test_web_pages_are_refused(api: aiohttp.ClientSession) -> None:
    async with api.get("/version", headers={"Host": "evil.example"}) as answer:
        assert answer.status == 403
    async with api.get("/version", headers={"Origin": "http://evil.example"}) as answer:
        assert answer.status == 403


async def test_a_body_is_asked_for(server: Server) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
    body = b'{"metadata": {"name": "a"}}'
    head = f"POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
    writer.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body))
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
    writer.write(body)
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 201 ")
    writer.close()
    await writer.wait_closed()


async def test_a_slow_reader_is_waited_for(api: aiohttp.ClientSession, server: Server) -> None:
    for number in range(30):
        body = {"metadata": {"name": f"m{number}"}, "data": {"a": "x" * 900_000}}
        async with api.post(MAPS, json=body) as answer:
            assert answer.status == 201
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server), limit=1 << 16)
    writer.write(f"GET {MAPS} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    size = 0
    while data := await reader.read(1 << 16):
        size += len(data)
    assert size > 30 * 900_000
    writer.close()
    await writer.wait_closed()
