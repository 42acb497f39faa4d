"""Requests whose head is like one before, which are answered without the parser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import orjson
import pytest
from aiohttp import web

from hydrofoil.endpoints import connection as module
from hydrofoil.endpoints.known_heads import KnownHeads
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.clients import Client, dial
from tests.api.hooks import MAPS, MUTATING, Hook, hooking
from tests.api.secure import serving
from tests.api.services import Certificate, certificate

__all__ = ["certificate"]


class Parsed:
    """The input that the parser got."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def take(self) -> int:
        """Return the number of pieces since the last call."""
        count, self.pieces = len(self.pieces), []
        return count


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Parsed]:
    found, received = Parsed(), module.received

    def receive(handler: web.RequestHandler, data: bytes) -> None:
        found.pieces.append(data)
        received(handler, data)

    monkeypatch.setattr(module, "received", receive)
    yield found


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving(Config(port=0, controllers="")) as found:
        yield found


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    found = await dial(server)
    yield found
    await found.close()


def map_of(name: str, size: int = 1) -> bytes:
    return orjson.dumps({"metadata": {"name": name}, "data": {"a": "x" * size}})


async def test_the_second_request_of_a_client_is_not_parsed(client: Client, parsed: Parsed) -> None:
    first = await client.ask(f"GET {MAPS}/kube-root-ca.crt")
    assert parsed.take() == 1
    assert await client.ask(f"GET {MAPS}/kube-root-ca.crt") == first
    assert b" 404 " in first
    assert b" 200 " in await client.ask(f"GET {MAPS}?limit=5")
    assert parsed.take() == 0
    # Other lines are others, whatever the case of their names.
    assert b" 404 " in await client.ask(f"GET {MAPS}/a", "Accept: application/json")
    assert parsed.take() == 1


async def test_each_request_is_parsed_where_that_is_wanted(client: Client, parsed: Parsed) -> None:
    known = [await client.ask(f"GET {MAPS}"), await client.ask(f"GET {MAPS}"), await client.ask(f"GET {MAPS}/a")]
    async with serving(Config(port=0, controllers="", request_memos=False)) as server:
        other = await dial(server)
        parsed.take()
        assert [await other.ask(f"GET {MAPS}{path}") for path in ("", "", "/a")] == known
        assert parsed.take() == 3
        await other.close()


async def test_bodies_of_any_length_follow_lines_that_are_known(client: Client, parsed: Parsed) -> None:
    for size in range(1, 20):
        assert b" 201 " in await client.ask(f"POST {MAPS}", body=map_of(f"m{size}", size))
    # The second one may arrive while aiohttp is on its way back from the first.
    assert parsed.take() in (1, 2)
    client.send(f"GET {MAPS}")
    listed = orjson.loads((await client.answer())[1])["items"]
    assert [len(item["data"]["a"]) for item in listed] == sorted(range(1, 20), key=str)
    parsed.take()
    # A part of a body is no whole request.
    body = map_of("late")
    client.send(f"POST {MAPS}", body=body[:4] + b" " * 4)
    assert b" 400 " in (await client.answer())[0]
    assert parsed.take() == 0
    client.writer.write(
        b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (MAPS.encode(), len(body))
    )
    await asyncio.sleep(0)
    client.writer.write(body)
    assert b" 201 " in (await client.answer())[0]


async def test_answers_come_in_the_order_of_requests(client: Client) -> None:
    assert b" 201 " in await client.ask(f"POST {MAPS}", body=map_of("a"))
    line = f"GET {MAPS}/a HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    client.writer.write(line)
    await client.answer()
    client.writer.write(line + line.replace(b"/a ", b"/b ") + line[:20])
    client.writer.write(line[20:])
    assert [(await client.answer())[0][9:12] for _ in range(3)] == [b"200", b"404", b"200"]


async def test_a_connection_ends_where_its_client_wants_it(client: Client, parsed: Parsed, server: Server) -> None:
    other = await dial(server)
    assert b"Connection: close" in await other.ask("GET /version", "Connection: close")
    assert await other.reader.read() == b""
    await other.close()
    parsed.take()
    assert b"Connection: close" in await client.ask("GET /version", "Connection: close")
    assert await asyncio.wait_for(client.reader.read(), 10) == b""
    assert parsed.take() == 0


@pytest.mark.parametrize("lines", [("Upgrade: websocket", "Connection: Upgrade"), ("Transfer-Encoding: chunked",)])
async def test_what_changes_the_framing_is_left_to_the_parser(
    server: Server, parsed: Parsed, lines: tuple[str, ...]
) -> None:
    for _ in range(3):
        other = await dial(server)
        other.writer.write("\r\n".join(("GET /version HTTP/1.1", "Host: localhost", *lines, "", "")).encode())
        if "chunked" in lines[0]:
            other.writer.write(b"0\r\n\r\n")
        assert b" 200 " in (await other.answer())[0]
        assert parsed.take() >= 1
        await other.close()


async def test_what_is_refused_is_refused_again(server: Server, parsed: Parsed) -> None:
    for _ in range(2):
        other = await dial(server)
        other.writer.write(b"GET /version HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        assert (await other.reader.readline()).startswith(b"HTTP/1.1 403")
        assert parsed.take() == 1
        await other.close()


@pytest.fixture
async def waiting(client: Client, certificate: Certificate) -> AsyncIterator[tuple[Hook, asyncio.Event]]:
    """A webhook that answers once the event is set; the head of a create is known."""
    gate = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        await gate.wait()
        return web.json_response({**await request.json(), "request": None, "response": {"uid": "", "allowed": False}})

    async with hooking(certificate) as hook:
        assert b" 201 " in await client.ask(f"POST {MAPS}", body=map_of("first"))
        assert b" 201 " in await client.ask(f"POST {MUTATING}", body=orjson.dumps(hook.configuration()))
        hook.whole = answer
        yield hook, gate
        gate.set()


@pytest.mark.parametrize("line", ["Host", "Host: localhost\r\nbad header", "X-No-Host: a", "Host : localhost"])
async def test_what_the_parser_rejects_is_rejected_again(server: Server, parsed: Parsed, line: str) -> None:
    for _ in range(3):
        other = await dial(server)
        other.writer.write(f"GET /version HTTP/1.1\r\n{line}\r\n\r\n".encode())
        assert (await other.reader.readline()).startswith(b"HTTP/1.1 400")
        assert parsed.take() == 1
        await other.close()


async def test_input_behind_a_request_that_waits_is_answered_behind_it(
    client: Client, waiting: tuple[Hook, asyncio.Event], parsed: Parsed
) -> None:
    hook, gate = waiting
    client.send(f"POST {MAPS}", body=map_of("second"))
    await hook.called.wait()
    client.send(f"GET {MAPS}/first")
    client.send(f"GET {MAPS}/none")
    assert parsed.take() == 0
    gate.set()
    assert [(await client.answer())[0][9:12] for _ in range(3)] == [b"500", b"200", b"404"]


async def test_a_request_that_waits_ends_with_its_client(client: Client, waiting: tuple[Hook, asyncio.Event]) -> None:
    hook, _ = waiting
    client.send(f"POST {MAPS}", body=map_of("second"))
    await hook.called.wait()
    assert any("EagerTask" in repr(task.get_coro()) for task in asyncio.all_tasks())
    client.writer.transport.abort()
    async with asyncio.timeout(5):
        # Without its cancellation the webhook would hold it.
        while any("EagerTask" in repr(task.get_coro()) for task in asyncio.all_tasks()):
            await asyncio.sleep(0)


async def test_what_cannot_be_looked_up_is_parsed(
    client: Client, parsed: Parsed, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert b" 200 " in await client.ask("GET /version")

    def fail(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(KnownHeads, "request", fail)
    parsed.take()
    assert b" 200 " in await client.ask("GET /version")
    assert parsed.take() == 1
    assert "a head was not looked up" in caplog.text
