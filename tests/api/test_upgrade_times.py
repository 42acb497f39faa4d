"""Upgrades end in time: what does not connect, answer or end holds nothing (`upgradeaware.go`)."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from yarl import URL

from hydrofoil.outbound import upgrade
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.aggregation import SERVICES, WARDLE, condition, reached, service
from tests.api.custom import call
from tests.api.services import Certificate, certificate

__all__ = ["certificate"]
pytestmark = pytest.mark.program("openssl")
Stream = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
UPGRADE = {"Connection": "Upgrade", "Upgrade": "x"}


@asynccontextmanager
async def before(certificate: Certificate, answer: Stream) -> AsyncIterator[tuple[aiohttp.ClientSession, list[str]]]:
    """Yield a client of a server before a service that handles upgrades by itself, and the service's last state."""
    done: list[str] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if b"Upgrade: x" in head:
            await answer(reader, writer)
            done.append("ended")
        else:
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 16\r\nConnection: close\r\n\r\n{"resources":[]}')
        writer.close()

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate[:2])
    listener = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    where = {"system/hook": f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"}
    server = Server(Config(port=0, controllers="", request_timeout=0.5, service_endpoints=where))
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as api:
        assert (await call(api, "POST", SERVICES, service(certificate)))[0] == 201
        await reached(api, "v1.wardle.example.com", lambda body: condition(body)[0] == "True")
        yield api, done
    await server.stop()
    listener.close()
    await listener.wait_closed()


async def test_an_answer_with_a_length_ends_there(certificate: Certificate) -> None:
    """The service keeps its connection: its end is not waited for."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        await reader.read()

    async with (
        before(certificate, refuse) as (api, _),
        asyncio.timeout(20),
        api.get(f"{WARDLE}/x", headers=UPGRADE) as r,
    ):
        assert (r.status, await r.read()) == (403, b"no")


async def test_an_answer_without_end_is_cut_off(certificate: Certificate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "ECHO_SECONDS", 0.3)

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 403 Forbidden\r\n\r\nno")
        await reader.read()

    async with (
        before(certificate, refuse) as (api, _),
        asyncio.timeout(20),
        api.get(f"{WARDLE}/x", headers=UPGRADE) as r,
    ):
        assert (r.status, await r.read()) == (403, b"no")


async def test_a_service_that_says_nothing_is_a_timeout(certificate: Certificate) -> None:
    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with (
        before(certificate, wait) as (api, _),
        asyncio.timeout(20),
        api.get(f"{WARDLE}/x", headers=UPGRADE) as r,
    ):
        assert r.status == 504
        assert (await r.json())["reason"] == "Timeout"


async def test_a_handshake_without_end(monkeypatch: pytest.MonkeyPatch, certificate: Certificate) -> None:
    """A service that accepts and sends nothing at all."""
    monkeypatch.setattr(upgrade, "HANDSHAKE_SECONDS", 0.3)
    over = asyncio.Event()

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with before(certificate, refuse):
        silent = await asyncio.start_server(mute, "127.0.0.1", 0)
        port = silent.sockets[0].getsockname()[1]
        url = URL(f"https://127.0.0.1:{port}/")
        found = await upgrade.dial(url, ssl.create_default_context(), "hook.system.svc")
        assert found == "net/http: TLS handshake timeout"
        monkeypatch.setattr(upgrade, "DIAL_SECONDS", 0.1)
        found = await upgrade.dial(url, ssl.create_default_context(), "hook.system.svc")
        assert found == f"dial tcp 127.0.0.1:{port}: i/o timeout"
        over.set()
        silent.close()


async def test_a_client_that_goes_takes_the_service_along(certificate: Certificate) -> None:
    async def switch(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
        assert await reader.readexactly(2) == b"hi"
        await reader.read()

    async with before(certificate, switch) as (api, done):
        host, port = api._base_url.host, api._base_url.port  # type: ignore[union-attr]
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(
            f"GET {WARDLE}/x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n".encode()
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        writer.write(b"hi")
        writer.write_eof()
        async with asyncio.timeout(30):
            assert await reader.read() == b""
            while not done:
                await asyncio.sleep(0.01)
        writer.close()
