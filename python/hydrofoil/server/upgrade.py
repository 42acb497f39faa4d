"""Connections that change their protocol on the way to a service (apimachinery `pkg/util/proxy/upgradeaware.go`)."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import Any

from aiohttp import web
from yarl import URL

from hydrofoil.endpoints import respond
from hydrofoil.errors import timed_out
from hydrofoil.registry.backends import reason
from hydrofoil.server.health import TEXT

DIAL_SECONDS = 30.0
"""How long a connection may take (Go's `net/http.DefaultTransport`)."""
HANDSHAKE_SECONDS = 10.0
ECHO_SECONDS = 10.0
"""How long an answer may take that is no upgrade, and the end of a connection whose client has gone."""
PIECE = 64 * 1024
HELD = 256 * 1024
"""The client is not read from while a service has yet to take more than this many bytes."""


class Pipe:
    """What a client sends from now on, on its way to a service. It has the form of aiohttp's payload parsers."""

    def __init__(self, client: asyncio.Transport, writer: asyncio.StreamWriter) -> None:
        self._client = client
        self._writer = writer
        self._drain: asyncio.Task[None] | None = None

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Passes bytes on."""
        self._writer.write(data)
        if self._writer.transport.get_write_buffer_size() > HELD and self._drain is None:
            self._client.pause_reading()
            self._drain = asyncio.create_task(self._drained())
        return False, b""

    async def _drained(self) -> None:
        try:
            await self._writer.drain()
        except OSError:
            return
        finally:
            self._drain = None
        if not self._client.is_closing():
            self._client.resume_reading()

    def feed_eof(self) -> None:
        """The client has gone: what it sent still goes out, if the service takes it."""
        self._writer.close()
        asyncio.get_running_loop().call_later(ECHO_SECONDS, self._writer.transport.abort)


def failed(request: web.BaseRequest, text: str) -> respond.Answer:
    """503 in plain text."""
    return respond.answer(request, 503, text.encode() + b"\n", TEXT, b"X-Content-Type-Options: nosniff\r\n", close=True)


async def dialled(
    url: URL, context: ssl.SSLContext, name: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | str:
    """A connection to a service, or why there is none."""
    where = f"{url.host}:{url.port}"
    try:
        async with asyncio.timeout(DIAL_SECONDS):
            return await asyncio.open_connection(
                url.host, url.port, ssl=context, server_hostname=name, ssl_handshake_timeout=HANDSHAKE_SECONDS
            )
    except TimeoutError:
        return f"dial tcp {where}: i/o timeout"
    except ConnectionAbortedError:
        # So the library tells that a handshake takes too long.
        return "net/http: TLS handshake timeout"
    except OSError as e:
        return reason(e, where)


def left_of(head: bytes) -> int | None:
    """How many bytes follow the head of an answer; None when it does not say."""
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.lower() == b"content-length" and value.strip().isdigit():
            return int(value)
    return None


async def echoed(
    request: web.BaseRequest, client: asyncio.Transport, reader: asyncio.StreamReader, left: int | None
) -> None:
    """Passes the rest of an answer on that is no upgrade; one that says nothing of its length lasts to its end."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(ECHO_SECONDS):
            while left != 0 and (data := await reader.read(PIECE if left is None else min(PIECE, left))):
                client.write(data)
                left = None if left is None else left - len(data)
                await request.protocol._drain_helper()


async def upgraded(
    request: web.BaseRequest, url: URL, headers: list[tuple[str, str]], context: ssl.SSLContext, name: str
) -> web.StreamResponse:
    """Passes a request on with its connection: what either side sends goes to the other until one ends.

    Raises ApiError when the service does not answer in time.
    """
    connection = await dialled(url, context, name)
    if isinstance(connection, str):
        return failed(request, f"error dialing backend: {connection}")
    reader, writer = connection
    try:
        lines = "".join(f"{k}: {v}\r\n" for k, v in headers)
        writer.write(f"{request.method} {url.raw_path_qs} HTTP/1.1\r\n{lines}\r\n".encode())
        try:
            async with asyncio.timeout(respond.patience(request)):
                head = await reader.readuntil(b"\r\n\r\n")
            status = int(head.split(b" ", 2)[1])
        except TimeoutError:
            raise timed_out() from None
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError, IndexError):
            return failed(request, "unexpected EOF")
        if status != 101 and status < 400:
            return failed(request, f"invalid upgrade response: status code {status}")
        client = request.transport
        if client is None:
            return respond.Streamed(status, close=True)
        client.write(head)
        if status != 101:
            await echoed(request, client, reader, left_of(head))
            return respond.Streamed(status, close=True)
        parser: Any = Pipe(client, writer)
        request.protocol.set_parser(parser)
        while data := await reader.read(PIECE):
            client.write(data)
            await request.protocol._drain_helper()
        return respond.Streamed(status, close=True)
    except OSError:
        return respond.Streamed(503, close=True)
    finally:
        writer.close()
