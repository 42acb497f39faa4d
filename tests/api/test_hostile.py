"""Clients that misbehave cost the others nothing."""

from __future__ import annotations

import asyncio
import contextlib
import time

import aiohttp
import pytest

from hydrofoil.server.run import Server

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PATIENCE = 0.05
"""How long another client may wait while somebody misbehaves, in seconds."""


async def connect(server: Server) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def answers_in_time(api: aiohttp.ClientSession) -> None:
    """The median of a few requests, so that a pause of the machine is not taken for one of the server."""
    took = []
    for _ in range(9):
        begun = time.perf_counter()
        async with api.get("/readyz") as r:
            assert r.status == 200
        took.append(time.perf_counter() - begun)
    assert sorted(took)[4] < PATIENCE


async def test_clients_killed_in_mid_watch(server: Server, api: aiohttp.ClientSession) -> None:
    own = len(server.app.hub)
    writers = []
    for _ in range(50):
        _, writer = await connect(server)
        writer.write(f"GET {CONFIGMAPS}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        await writer.drain()
        writers.append(writer)
    async with asyncio.timeout(5):
        while len(server.app.hub) < own + 50:
            await asyncio.sleep(0.01)
    for writer in writers:
        writer.transport.abort()
    async with asyncio.timeout(5):
        while len(server.app.hub) > own:
            await asyncio.sleep(0.01)
    await answers_in_time(api)


async def test_half_open_connections(server: Server, api: aiohttp.ClientSession) -> None:
    writers = []
    for _ in range(500):
        _, writer = await connect(server)
        writer.write(b"GET /api/v1/pods HTTP/1.1\r\nHost: ")
        writers.append(writer)
    await answers_in_time(api)
    for writer in writers:
        writer.transport.abort()


async def test_reader_that_stops_reading_a_large_list(server: Server, api: aiohttp.ClientSession) -> None:
    for i in range(40):
        async with api.post(CONFIGMAPS, json={"metadata": {"name": f"big{i}"}, "data": {"k": "x" * 900_000}}) as r:
            assert r.status == 201
    writers = []
    for _ in range(4):
        _, writer = await connect(server)
        writer.write(f"GET {CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        writers.append(writer)
    await answers_in_time(api)
    for writer in writers:
        writer.transport.abort()


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["tls", "short", "version", "length", "chunk", "header", "line"],
)
async def test_malformed_http(server: Server, api: aiohttp.ClientSession, garbage: bytes) -> None:
    reader, writer = await connect(server)
    with contextlib.suppress(ConnectionError):
        writer.write(garbage)
        await writer.drain()
        first = await asyncio.wait_for(reader.read(64), 5)
        assert first == b"" or first.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4"))
    writer.close()
    await answers_in_time(api)
