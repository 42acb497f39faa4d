"""Clients that misbehave cost the others nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from blockbuster import BlockBuster

from hydrofoil.server.run import Server
from tests.conftest import Process

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PATIENCE = 0.05
"""The time that a client may wait while another misbehaves, in seconds of processor time."""


SPARE = 24 << 20
"""The memory that a server may keep after misbehaving clients have left, in bytes: buffers of the allocator."""


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = url.removeprefix("http://").rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def answers_in_time(api: aiohttp.ClientSession) -> None:
    """Check the median of a few requests, so that a pause of the machine is not mistaken for one of the server."""
    took = []
    for _ in range(9):
        begun = time.thread_time()
        async with api.get("/readyz") as r:
            assert r.status == 200
        took.append(time.thread_time() - begun)
    assert sorted(took)[4] < PATIENCE


async def test_clients_killed_in_mid_watch(server: Server, api: aiohttp.ClientSession) -> None:
    own = len(server.app.core.hub)
    writers = []
    for _ in range(50):
        _, writer = await connect(server.url)
        writer.write(f"GET {CONFIGMAPS}?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await writer.drain()
        writers.append(writer)
    async with asyncio.timeout(30):
        while len(server.app.core.hub) < own + 50:
            await asyncio.sleep(0.01)
    for writer in writers:
        writer.transport.abort()
    async with asyncio.timeout(30):
        while len(server.app.core.hub) > own:
            await asyncio.sleep(0.01)
    await answers_in_time(api)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["tls", "short", "version", "length", "chunk", "header", "line"],
)
async def test_malformed_http(server: Server, api: aiohttp.ClientSession, garbage: bytes) -> None:
    reader, writer = await connect(server.url)
    with contextlib.suppress(ConnectionError):
        writer.write(garbage)
        await writer.drain()
        first = await asyncio.wait_for(reader.read(64), 5)
        assert first == b"" or first.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4"))
    writer.close()
    await answers_in_time(api)


async def test_an_unknown_method_is_a_status(server: Server, api: aiohttp.ClientSession) -> None:
    """HTTP allows any token for a method; one that nothing answers to is 405, not a malformed request."""
    reader, writer = await connect(server.url)
    writer.write(b"FOO /api/v1/pods HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, _, body = (await asyncio.wait_for(reader.read(), 5)).partition(b"\r\n\r\n")
    assert b" 405 " in head.splitlines()[0]
    assert json.loads(body)["reason"] == "MethodNotAllowed"
    writer.close()


def resident(pid: int) -> int:
    """Return the memory of a process, in bytes."""
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * 4096


@pytest.fixture
async def client(process: Process) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server in a process of its own."""
    async with aiohttp.ClientSession(process[1], headers={"Content-Type": "application/json"}) as session:
        yield session


@pytest.fixture
def unguarded(no_blocking: BlockBuster) -> None:
    """For tests that read /proc: the loop is the client's alone."""
    no_blocking.deactivate()


async def memory_returns(process: Process, client: aiohttp.ClientSession, before: int) -> None:
    """Wait until the memory that misbehaving clients caused is released."""
    async with asyncio.timeout(10):
        while resident(process[0].pid) > before + SPARE:
            async with client.get("/readyz") as r:
                assert r.status == 200


@pytest.mark.usefixtures("unguarded")
async def test_half_open_connections(process: Process, client: aiohttp.ClientSession) -> None:
    await answers_in_time(client)
    before = resident(process[0].pid)
    writers = []
    for _ in range(2000):
        _, writer = await connect(process[1])
        writer.write(b"GET /api/v1/pods HTTP/1.1\r\nHost: ")
        writers.append(writer)
    await answers_in_time(client)
    for writer in writers:
        writer.transport.abort()
    await memory_returns(process, client, before)


@pytest.mark.usefixtures("unguarded")
async def test_readers_that_stop_reading_a_list_of_100_mb(process: Process, client: aiohttp.ClientSession) -> None:
    for i in range(112):
        body = {"metadata": {"name": f"big{i}"}, "data": {"k": "x" * 900_000}}
        async with client.post(CONFIGMAPS, json=body) as r:
            assert r.status == 201
    await answers_in_time(client)
    before = resident(process[0].pid)
    writers = []
    for _ in range(8):
        reader, writer = await connect(process[1])
        writer.write(f"GET {CONFIGMAPS} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert (await reader.read(12)).endswith(b"200")
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        writers.append(writer)
    await answers_in_time(client)
    assert resident(process[0].pid) < before + 100_000_000, "a reader that stops holds a few pieces, not its answer"
    for writer in writers:
        writer.transport.abort()
    await memory_returns(process, client, before)
