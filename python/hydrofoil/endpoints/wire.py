"""Answers on client connections: the module that writes them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, cast

from aiohttp import web
from aiohttp.http_writer import HttpVersion11
from msgspec.structs import replace

from hydrofoil.answer import LEAVE_SECONDS, Answer, Dropped
from hydrofoil.clock import Clock
from hydrofoil.complaints import Complaint
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Handler, Parts
from hydrofoil.endpoints.line import Line
from hydrofoil.endpoints.memos import Memos
from hydrofoil.errors import FAULTS, timed_out
from hydrofoil.headers import CONNECTION
from hydrofoil.pace.arrivals import ArrivalPacer
from hydrofoil.pace.pacer import AnswerPacer

LOG = logging.getLogger("hydrofoil")
SLOW = Complaint("a client does not read its answer, and its connection is cut: {}")
RESET = struct.pack("ii", 1, 0)
"""`SO_LINGER` of a connection that is reset on close."""
PIECE = 128 * 1024
"""Large bodies are written in pieces of about this size, each after the previous one was taken."""

_LINES = {s.value: f"HTTP/1.1 {s.value} {s.phrase}\r\n".encode() for s in HTTPStatus}
BODILESS = frozenset((204, 304))
"""Statuses whose answers have neither a body nor its length."""


class _Date:
    """The Date header, made once a second."""

    def __init__(self, clock: Clock) -> None:
        # Each answer asks: the native clock itself is the shortest way.
        self._nanoseconds = clock.native.nanoseconds
        self._second = 0
        self._line = b""

    def line(self) -> bytes:
        now = self._nanoseconds() // 1_000_000_000
        if now != self._second:
            self._second = now
            self._line = f"Date: {formatdate(now, usegmt=True)}\r\n".encode()
        return self._line


def closes(request: web.BaseRequest, word: str | None) -> bool:
    """Report whether the connection ends with this answer: as its header requests, or by default in HTTP/1.0."""
    word = (word or "").lower()
    if "," in word:
        words = {part.strip() for part in word.split(",")}
        word = "close" if "close" in words else "keep-alive" if "keep-alive" in words else ""
    return word == "close" or (word != "keep-alive" and request.version < HttpVersion11)


def opening(context: Context, status: int, close: bool) -> tuple[bytes, bytes, bool]:
    """Return the status line, the line about the connection, and whether that ends (net/http `cw.writeHeader`).

    `close`: the answer ends it in any case.
    """
    request = context.request
    line = _LINES.get(status) or b"HTTP/1.1 %d \r\n" % status
    word = request.headers.get(CONNECTION)
    # The parser has one value for the version of nearly all requests, which have no such header either.
    if request.version is HttpVersion11 and word is None:
        return line, b"Connection: close\r\n" if close else b"", close
    close = close or closes(request, word)
    if request.version >= HttpVersion11:
        return line, b"Connection: close\r\n" if close else b"", close
    return line.replace(b"HTTP/1.1", b"HTTP/1.0", 1), b"" if close else b"Connection: keep-alive\r\n", close


def cut(transport: asyncio.Transport) -> None:
    """End a connection at once, and discard unread data, here and in the kernel."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        # It may be closed already.
        with contextlib.suppress(OSError, ValueError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    transport.abort()


def cut_off(context: Context) -> None:
    """End the connection of a request at once."""
    if context.request.transport is not None:
        cut(context.request.transport)


def transport_of(context: Context) -> asyncio.BaseTransport | None:
    """Return the connection of a request; None if it is closed."""
    return context.request.transport


def is_own(context: Context) -> bool:
    """Report whether the server itself sent a request, in memory."""
    transport = context.request.transport
    return transport is not None and transport.get_extra_info("hydrofoil.own") is not None


class Done:
    """The result for aiohttp: the answer is written, and whether the connection continues."""

    def __init__(self, *, keep_alive: bool) -> None:
        self.keep_alive = keep_alive

    async def prepare(self, request: web.BaseRequest) -> None:
        """Do nothing: nothing is left to write."""

    async def write_eof(self) -> None:
        """Do nothing: nothing is left to write."""


KEPT, CLOSED = Done(keep_alive=True), Done(keep_alive=False)


class Wire:
    """Answer requests by a chain, and write its answers."""

    def __init__(self, handler: Handler, parts: Parts, arrivals: ArrivalPacer, memos: Memos | None = None) -> None:
        """`memos` keeps what later requests may rest on; without it each passes the chain."""
        self.memos = memos
        self.waiting = arrivals.waiting
        """The requests that wait for a turn: others begin behind them."""
        self._handler = handler
        self._parts = parts
        self._arrivals = arrivals
        self._date = _Date(parts.clock)
        self._open = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def idle(self) -> None:
        """Wait until no request is open."""
        await self._idle.wait()

    async def __call__(self, request: web.BaseRequest) -> Done:
        """Answer one request."""
        self._open += 1
        self._idle.clear()
        context = Context(request, self._parts)
        connection = cast(Any, request.protocol)
        context.remote = connection.address
        if certificates := connection.certificates:
            context.certificates = certificates
        if (draft := connection.memo) is not None:
            context.memo, connection.memo = draft, None
        asks = connection.expected and request.can_read_body and context.framed
        if asks:
            context.ask_for_body = connection.send_continue
        status = 500
        try:
            try:
                arrivals = self._arrivals
                if arrivals.waiting or arrivals.is_full():
                    await arrivals.wait()
                answer = await self._handler(context)
            except ConnectionError as e:
                if request.transport is None or request.transport.is_closing():
                    raise
                answer = respond.answer_fault(context, e)
            status = answer.status
            if asks and not request.content.is_eof():
                # A client that was not asked for its body, or sends the rest of it, would be read as the next request;
                # that is not waited for.
                answer = replace(answer, close=True)
                connection._lingering_time = 0.0
            if context.memo is not None and self.memos is not None:
                self.memos.keep(context, context.memo, answer)
            if answer.stream is None:
                return await self._whole(context, answer)
            return await self._stream(context, answer)
        finally:
            context.ended(status, False)
            self._open -= 1
            if not self._open:
                self._idle.set()

    async def _whole(self, context: Context, answer: Answer) -> Done:
        """Write an answer with its body: small ones in one piece."""
        request = context.request
        transport = request.transport
        if transport is None:
            return CLOSED
        context.starts(answer)
        line, connection, close = opening(context, answer.status, answer.close)
        payload = answer.body
        head = b"%s%s%s%s%s\r\n" % (
            line,
            answer.head,
            self._date.line(),
            connection,
            b"" if answer.sized or answer.status in BODILESS else b"Content-Length: %d\r\n" % len(payload),
        )
        body = b"" if context.method == "HEAD" else payload
        context.answered = len(body)
        if len(body) <= PIECE:
            context.ended(answer.status, True)
            transport.write(head + body)
            if request.protocol.writing_paused and not await self._taken(request, transport):
                return CLOSED
            return CLOSED if close else KEPT
        try:
            transport.write(head)
            view = memoryview(body)
            last = (len(body) - 1) // PIECE * PIECE
            pacer = AnswerPacer()
            async with asyncio.timeout(self._parts.request_timeout):
                for at in range(0, len(body), PIECE):
                    if at == last:
                        context.ended(answer.status, True)
                    transport.write(view[at : at + PIECE])
                    await request.protocol._drain_helper()
                    await pacer.pause()
        except FAULTS as e:
            # The head was sent: only a broken connection can report the failure.
            if not isinstance(e, TimeoutError | ConnectionError):
                LOG.exception("an answer broke off", extra={"fields": context.fields()})
            cut(transport)
            return CLOSED
        return CLOSED if close else KEPT

    async def _taken(self, request: web.BaseRequest, transport: asyncio.Transport) -> bool:
        """Wait until a client has read most of the output; cut a slow one. Report whether it has read it."""
        try:
            async with asyncio.timeout(self._parts.request_timeout):
                await request.protocol._drain_helper()
        except TimeoutError:
            SLOW.say(request.remote or "a client in this process")
            cut(transport)
            return False
        return True

    async def _drop(self, request: web.BaseRequest, transport: asyncio.Transport, *, framed: bool) -> None:
        """End a connection behind its output so far; one whose end is that of the body is reset."""
        if framed:
            transport.close()
            return
        transport.set_write_buffer_limits(0)
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await request.protocol._drain_helper()
        cut(transport)

    def _opening(self, context: Context, answer: Answer) -> tuple[bytes, bool, bool]:
        """Return the head of a stream, whether its pieces become chunks, and whether the connection ends with it."""
        whole = answer.sized
        chunked = not whole and context.framed
        line, connection, close = opening(context, answer.status, answer.close or not (whole or chunked))
        head = b"%s%s%s%s%s\r\n" % (
            line,
            answer.head,
            self._date.line(),
            b"Transfer-Encoding: chunked\r\n" if chunked else b"",
            connection,
        )
        return head, chunked, close

    async def _stream(self, context: Context, answer: Answer) -> Done:
        """Write an answer in pieces; one that fails before its first piece becomes another."""
        stream, request = answer.stream, context.request
        transport = request.transport
        assert stream is not None
        if transport is None:
            return CLOSED
        context.starts(answer)
        head, chunked, close = (b"", False, True) if answer.takes_over else self._opening(context, answer)
        pacer = AnswerPacer()
        make = Line
        if answer.breaks:
            from hydrofoil.endpoints.half_line import HalfLine

            make = HalfLine
        line = make(request, transport, head, pacer, chunked=chunked and not answer.framed, tap=answer.tap)
        limit = asyncio.timeout_at(context.ends())
        try:
            async with limit:
                await line.take(stream)
            context.answered = line.size
            context.ended(answer.status, True)
            line.begin()
            if chunked and not transport.is_closing():
                transport.write(b"0\r\n\r\n")
            if request.protocol.writing_paused and not transport.is_closing():
                async with asyncio.timeout(LEAVE_SECONDS if context.info.lasting else self._parts.request_timeout):
                    await request.protocol._drain_helper()
        except Dropped:
            await self._drop(request, transport, framed=chunked or answer.sized or answer.takes_over)
            return CLOSED
        except FAULTS as e:
            if not line.begun and not transport.is_closing():
                return await self._whole(context, respond.failure(context, timed_out() if limit.expired() else e))
            # No Status can follow the first piece: only a broken connection can report the failure.
            if not isinstance(e, TimeoutError | ConnectionError):
                LOG.exception("an answer broke off", extra={"fields": context.fields()})
            cut(transport)
            return CLOSED
        except asyncio.CancelledError:
            transport.abort()
            raise
        return CLOSED if close or self._parts.hub.closing else KEPT
