"""One answer on a connection, as the streams that are written to it see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from aiohttp import web

from hydrofoil.answer import HIGH_WATER, Feed, Piece, Stream
from hydrofoil.pace.pacer import AnswerPacer


class Line:
    """One answer on a connection: head and pieces; for a stream that takes the connection over, the client's input."""

    def __init__(
        self,
        request: web.BaseRequest,
        transport: asyncio.Transport,
        head: bytes,
        pacer: AnswerPacer,
        *,
        chunked: bool,
        tap: Callable[[Piece], None] | None = None,
    ) -> None:
        self._request = request
        self._transport = transport
        self._head = head
        self._pacer = pacer
        self._chunked = chunked
        self._tap = tap
        self.begun = False
        self.size = 0
        """The number of bytes written as chunks."""

    async def take(self, stream: Stream) -> None:
        """Write a stream. Raise its error."""
        await stream.write(self)

    def begin(self) -> None:
        """Send the head unless it was sent."""
        if not self.begun:
            self.begun = True
            self._transport.write(self._head)

    def write(self, *pieces: Piece) -> None:
        """Write pieces, together one chunk."""
        if (tap := self._tap) is not None:
            for piece in pieces:
                tap(piece)
        if self._chunked:
            size = sum(map(len, pieces))
            if size == 0:
                # An empty chunk would end the body: skip empty pieces.
                return
            self.size += size
            pieces = (b"%x\r\n" % size, *pieces, b"\r\n")
        if not self.begun:
            self.begun = True
            pieces = (self._head, *pieces)
        if len(pieces) == 1:
            self._transport.write(pieces[0])
        else:
            self._transport.writelines(pieces)

    def paused(self) -> bool:
        """Report whether the reader is behind, or has disconnected."""
        return self._transport.get_write_buffer_size() > HIGH_WATER or self._transport.is_closing()

    async def drained(self) -> None:
        """Wait until the reader has taken most of the output. Raise ConnectionError when it has disconnected.

        Output of milliseconds leaves turns of the loop to others in between.
        """
        await self._request.protocol._drain_helper()
        await self._pacer.pause()
        if self._transport.is_closing():
            raise ConnectionResetError

    def receive(self, feed: Feed) -> None:
        """Pass further input of the client to a feed."""
        self.begun = True
        self._request.protocol.set_parser(cast(Any, feed))

    def hold(self, *, on: bool) -> None:
        """Pause or resume reading from the client."""
        if self._transport.is_closing():
            return
        if on:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    async def accept(self, protocols: list[str]) -> WebSocket:
        """Upgrade to a WebSocket with one of these protocols."""
        self.begun = True
        socket = web.WebSocketResponse(protocols=protocols)
        await socket.prepare(self._request)
        return WebSocket(socket)


class WebSocket:
    """An accepted WebSocket."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self._socket = socket

    @property
    def closed(self) -> bool:
        """Report whether nothing more can be sent."""
        return self._socket.closed

    async def send(self, data: bytes, *, text: bool) -> None:
        """Send a message once the reader has taken the previous ones."""
        if text:
            await self._socket.send_str(data.decode())
        else:
            await self._socket.send_bytes(data)

    async def left(self) -> None:
        """Wait until the client has closed; its messages are ignored."""
        async for _ in self._socket:
            pass

    async def close(self) -> None:
        """Send a close message, and wait for the client's."""
        await self._socket.close()
