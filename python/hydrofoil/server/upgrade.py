"""Connections that change their protocol on the way to a service (apimachinery `pkg/util/proxy/upgradeaware.go`)."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

from aiohttp import web
from yarl import URL

from hydrofoil.endpoints import respond
from hydrofoil.registry.backends import reason
from hydrofoil.server.health import TEXT

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
        """The client has gone."""
        self._writer.close()


def failed(request: web.BaseRequest, text: str) -> respond.Answer:
    """503 in plain text."""
    return respond.answer(request, 503, text.encode() + b"\n", TEXT, b"X-Content-Type-Options: nosniff\r\n", close=True)


async def upgraded(
    request: web.BaseRequest, url: URL, headers: list[tuple[str, str]], context: ssl.SSLContext, name: str
) -> web.StreamResponse:
    """Passes a request on with its connection: what either side sends goes to the other until one ends."""
    where = f"{url.host}:{url.port}"
    try:
        reader, writer = await asyncio.open_connection(url.host, url.port, ssl=context, server_hostname=name)
    except OSError as e:
        return failed(request, f"error dialing backend: {reason(e, where)}")
    try:
        lines = "".join(f"{k}: {v}\r\n" for k, v in headers)
        writer.write(f"{request.method} {url.raw_path_qs} HTTP/1.1\r\n{lines}\r\n".encode())
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            status = int(head.split(b" ", 2)[1])
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError, IndexError):
            return failed(request, "unexpected EOF")
        if status != 101 and status < 400:
            return failed(request, f"invalid upgrade response: status code {status}")
        client = request.transport
        if client is None:
            return respond.Streamed(status, close=True)
        client.write(head)
        if status == 101:
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
