"""Clients that do not read what they asked for are cut off, whatever the answer is (`--request-timeout`)."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

MAPS = "/api/v1/namespaces/default/configmaps"
LARGE = 1_000_000
"""Bytes of the object that is asked for."""
MANY = 20
"""Requests, each before the last was answered: more than the sockets of both sides hold."""


@pytest.fixture(params=["plain", "tls"])
async def server(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Server]:
    """Yield a server that waits for half a second."""
    config = Config(port=0, controllers="", request_timeout=0.5)
    if request.param == "tls":
        cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
        line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "2"]
        made = await asyncio.create_subprocess_exec(
            *line, "-keyout", str(key), "-out", str(cert), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        assert await made.wait() == 0
        config = config.replaced(tls_cert_file=str(cert), tls_private_key_file=str(key))
    server = Server(config)
    await server.start()
    body = {"metadata": {"name": "a"}, "data": {"a": "b" * LARGE}}
    async with (
        aiohttp.ClientSession(server.url, connector=aiohttp.TCPConnector(ssl=False)) as api,
        api.post(MAPS, json=body) as r,
    ):
        assert r.status == 201
    yield server
    await server.stop()


async def silent(server: Server, request: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect a client that sends a request and then reads nothing."""
    scheme, _, where = server.url.partition("://")
    host, _, port = where.rpartition(":")
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, (host, int(port)))
    context = None
    if scheme == "https":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    name = "x" if context else None
    reader, writer = await asyncio.open_connection(sock=sock, ssl=context, server_hostname=name, limit=1024)
    writer.write(request)
    with contextlib.suppress(ConnectionError):
        # It may be cut off before it has asked for everything.
        await writer.drain()
    return reader, writer


async def cut_off(server: Server) -> None:
    """Wait until the server holds no connection."""
    async with asyncio.timeout(10):
        while server.app.connections.connections:
            await asyncio.sleep(0.05)


def get(path: str, *lines: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


@pytest.mark.program("openssl")
@pytest.mark.parametrize(
    "request_bytes",
    [
        get(f"{MAPS}/a") * MANY,
        get("/openapi/v2") * MANY,
        get(MAPS) * MANY,
        get(f"{MAPS}/a", "Accept: application/yaml") * MANY,
        get(f"{MAPS}/nothing{'x' * 30_000}") * 1000,
    ],
    ids=["object", "document", "list", "yaml", "errors"],
)
async def test_what_nobody_reads_is_dropped(server: Server, request_bytes: bytes) -> None:
    _, writer = await silent(server, request_bytes)
    await cut_off(server)
    writer.transport.abort()


@pytest.mark.program("openssl")
async def test_one_answer_and_the_end(server: Server) -> None:
    """The unread rest of an answer does not keep a connection open that is to be closed."""
    answers = get(f"{MAPS}/a") * MANY + get(f"{MAPS}/a", "Connection: close")
    _, writer = await silent(server, answers)
    await cut_off(server)
    writer.transport.abort()


@pytest.mark.program("openssl")
async def test_a_reader_that_begins_late_gets_everything(server: Server) -> None:
    reader, writer = await silent(server, get(f"{MAPS}/a", "Connection: close"))
    async with asyncio.timeout(10):
        assert len(await reader.read()) > LARGE
    writer.close()
