"""Plain limits on requests, and the times that connections have (apiserver `maxinflight.go`, `secure_serving.go`)."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest

from hydrofoil.endpoints.filters.in_flight import InFlight
from hydrofoil.request import parse
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
BODY = b'{"metadata":{"name":"slow"}}'
POST = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (
    CONFIGMAPS.encode(),
    len(BODY),
)
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@contextlib.asynccontextmanager
async def serving(config: Config) -> AsyncIterator[tuple[Server, aiohttp.ClientSession]]:
    """Yield a server of these settings and a client of it."""
    server = Server(config)
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as api:
        yield server, api
    await server.stop()


Sender = Callable[[Server, bytes], Awaitable[Connection]]


@pytest.fixture
async def sent() -> AsyncIterator[Sender]:
    """Open a connection and send bytes on it."""
    writers = []

    async def send(server: Server, data: bytes) -> Connection:
        host, _, port = server.url.removeprefix("http://").rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writers.append(writer)
        writer.write(data)
        await writer.drain()
        return reader, writer

    yield send
    for writer in writers:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def becomes(state: Callable[[], bool]) -> None:
    """Wait for a state."""
    async with asyncio.timeout(30):
        while not state():
            await asyncio.sleep(0.005)


async def stalled_list(sent: Sender, server: Server, api: aiohttp.ClientSession) -> Connection:
    """Connect a reader that takes the head of a list of 36 MB, and no more."""
    for i in range(40):
        async with api.post(CONFIGMAPS, json={"metadata": {"name": f"big{i}"}, "data": {"k": "x" * 900_000}}) as r:
            assert r.status == 201
    reader, writer = await sent(server, f"GET {CONFIGMAPS} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert (await reader.read(12)).endswith(b"200")
    reader._transport.pause_reading()  # type: ignore[attr-defined]
    return reader, writer


def terminations(text: str) -> list[str]:
    """Return the first labels of the requests that were ended in self-defense."""
    lines = [line for line in text.splitlines() if line.startswith("apiserver_request_terminations_total{")]
    assert all(line.endswith(" 1") for line in lines)
    return [line.partition("{")[2].partition(",scope")[0] for line in lines]


async def test_writes_over_the_limit_are_told_to_come_again(sent: Sender) -> None:
    """429 as plain text with Retry-After; reads have places of their own, and a place that is left is free."""
    async with serving(Config(port=0, max_mutating_requests_inflight=1, enable_priority_and_fairness=False)) as (
        server,
        api,
    ):
        reader, writer = await sent(server, POST + BODY[:5])
        await becomes(lambda: server.app.limits.in_flight.writing.taken == 1)
        async with api.post(CONFIGMAPS, json={"metadata": {"name": "refused"}}) as r:
            assert (r.status, r.headers["Retry-After"]) == (429, "1")
            assert r.headers["Content-Type"] == "text/plain; charset=utf-8"
            assert r.headers["X-Content-Type-Options"] == "nosniff"
            assert await r.text() == "Too many requests, please try again later.\n"
        async with api.get(CONFIGMAPS) as r:
            assert r.status == 200
        async with api.get("/metrics") as r:
            text = await r.text()
            assert 'apiserver_current_inflight_requests{request_kind="mutating"} 1\n' in text
            counted = [line for line in text.splitlines() if line.startswith("apiserver_request_total{")]
            dropped = [line for line in counted if 'code="429"' in line]
            assert len(dropped) == 1
            assert 'resource="configmaps"' in dropped[0]
            assert dropped[0].endswith(" 1")
            assert terminations(text) == ['code="429",component="apiserver",group="",resource="configmaps"']
        writer.write(BODY[5:])
        assert (await reader.readline()).endswith(b"201 Created\r\n")
        async with api.post(CONFIGMAPS, json={"metadata": {"name": "taken"}}) as r:
            assert r.status == 201


async def test_reads_over_the_limit_leave_watches_and_probes_alone(sent: Sender) -> None:
    async with serving(Config(port=0, max_requests_inflight=1, enable_priority_and_fairness=False)) as (server, api):
        _, writer = await stalled_list(sent, server, api)
        await becomes(lambda: server.app.limits.in_flight.reading.taken == 1)
        async with api.get(f"{CONFIGMAPS}/big0") as r:
            assert r.status == 429
        async with api.get(CONFIGMAPS, params={"watch": "1"}) as r:
            assert r.status == 200
        async with api.get("/readyz") as r:
            assert r.status == 200
        writer.transport.abort()
        await becomes(lambda: server.app.limits.in_flight.reading.taken == 0)
        async with api.get(f"{CONFIGMAPS}/big0") as r:
            assert r.status == 200


def test_classes_of_requests() -> None:
    inflight = InFlight(1, 0, lambda _: None)
    inflight.reading.taken = inflight.writing.taken = 1

    def full(method: str, target: str) -> bool:
        slots = inflight.slots(parse(method, target))
        return slots is not None and slots.taken >= slots.limit > 0

    assert full("GET", f"{CONFIGMAPS}/c")
    assert full("GET", CONFIGMAPS)
    assert not full("GET", f"{CONFIGMAPS}?watch=1")
    assert not full("GET", "/api/v1/namespaces/default/pods/p/log")
    assert not full("GET", "/livez"), "probes are always answered"
    assert not full("PUT", f"{CONFIGMAPS}/c"), "0 is no limit"


async def test_a_first_head_that_does_not_come(sent: Sender) -> None:
    """Slowloris: neither silence nor half a head keeps a connection; one that has asked in time continues."""
    async with serving(Config(port=0, header_timeout=0.2)) as (server, _):
        whole = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        reader, writer = await sent(server, whole)
        assert (await reader.readline()).endswith(b"200 OK\r\n")
        for part in (b"", b"GET /api/v1/pods HTTP/1.1\r\nHost: "):
            late, _ = await sent(server, part)
            assert await asyncio.wait_for(late.read(), 5) == b""
        writer.write(whole)
        await asyncio.wait_for(reader.readuntil(b"ok"), 5)
        assert (await asyncio.wait_for(reader.readline(), 5)).endswith(b"200 OK\r\n")


async def test_a_connection_that_stays_idle(sent: Sender) -> None:
    async with serving(Config(port=0, header_timeout=0.1, idle_timeout=0.2)) as (server, _):
        reader, _ = await sent(server, b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await asyncio.wait_for(reader.read(), 5)).endswith(b"ok")


async def test_a_request_that_takes_too_long(sent: Sender) -> None:
    """504 where nothing was answered yet, a cut where something was; a watch lasts as long as its client wants."""
    late = {"watch": "1", "fieldSelector": "metadata.name=late"}
    async with (
        serving(Config(port=0, request_timeout=1.0, enable_priority_and_fairness=False)) as (server, api),
        api.get(CONFIGMAPS, params=late) as watch,
    ):
        reader, _ = await sent(server, POST + BODY[:5])
        head, _, body = (await asyncio.wait_for(reader.readuntil(b"}\n"), 5)).partition(b"\r\n\r\n")
        assert b" 504 " in head
        status = json.loads(body)
        assert status["message"] == "Timeout: request did not complete within the allotted timeout"
        async with api.get("/metrics") as r:
            found = terminations(await r.text())
            assert found == ['code="504",component="apiserver",group="",resource="configmaps"']
        stalled, _ = await stalled_list(sent, server, api)
        await becomes(lambda: server.app.limits.in_flight.reading.taken == 0)
        stalled._transport.resume_reading()  # type: ignore[attr-defined]
        with contextlib.suppress(ConnectionError):
            assert len(await asyncio.wait_for(stalled.read(), 5)) < 30_000_000
        async with api.post(CONFIGMAPS, json={"metadata": {"name": "late"}}) as r:
            assert r.status == 201
        assert json.loads(await asyncio.wait_for(watch.content.readline(), 5))["type"] == "ADDED"
