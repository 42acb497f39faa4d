"""Watches over HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import orjson
from aiohttp import web

from hydrofoil import engine, errors
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.handlers.get import reached
from hydrofoil.endpoints.handlers.list import read_options, selector
from hydrofoil.endpoints.negotiate import CBOR, JSON, PROTOBUF, STREAMS, Accepted
from hydrofoil.endpoints.params import ListOptions, truth
from hydrofoil.endpoints.scope import Scope
from hydrofoil.engine import Watcher
from hydrofoil.storage.errors import Expired
from hydrofoil.watch.stream import PIECE, Sink, WatchStream

LOG = logging.getLogger("hydrofoil")
HIGH_WATER = 64 * 1024
"""A reader with more than this many bytes waiting is behind: the mark at which transports pause too."""


LEAVE_SECONDS = 5.0
"""How long the reader of a stream that has ended may take for what still waits."""


class TransportSink:
    """A stream of HTTP/1.1 chunks, or of bare lines for HTTP/1.0, whose head goes out with the first piece."""

    def __init__(self, transport: asyncio.Transport, head: bytes) -> None:
        self._transport = transport
        self._head = head

    @property
    def begun(self) -> bool:
        return not self._head

    def begin(self) -> None:
        """Write the head if nothing was written yet."""
        if self._head:
            self.write(b"")

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        self._transport.write(data)

    def paused(self) -> bool:
        return self._transport.get_write_buffer_size() > HIGH_WATER or self._transport.is_closing()


ONE = 1
"""As many bytes at a time give one event at a time."""
STREAMED = {PROTOBUF: f"{PROTOBUF};stream=watch", CBOR: "application/cbor-seq"}
"""The media type of a stream, by that of an object."""


def chunk(data: bytes) -> bytes:
    """One HTTP/1.1 chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def error_event(scope: Scope, error: errors.ApiError) -> bytes:
    """The ERROR event of a Status."""
    if scope.accepted.protobuf:
        return engine.protobuf_event("ERROR", scope.registry.catalog.protobuf(orjson.dumps(error.status())))
    if scope.accepted.cbor:
        return engine.cbor_event("ERROR", engine.json_to_cbor(orjson.dumps(error.status())))
    return orjson.dumps({"type": "ERROR", "object": error.status()}) + b"\n"


def start(options: ListOptions) -> tuple[int | None, bool]:
    """The revision after which a watch begins (None: the state first), and whether the end of the state is marked."""
    if options.initial_events is not None:
        if options.initial_events:
            return None, True
        return options.revision or None, False
    if not options.revision:
        return None, options.marked
    return options.revision, False


def named(scope: Scope, fields: str) -> str:
    """The field selector of a watch whose path names one object. Raises 400 when it means another."""
    name = scope.info.name
    if not fields:
        return f"metadata.name={name}"
    selector(scope, "", fields)
    terms = [term.replace("==", "=") for term in fields.split(",")]
    if f"metadata.name={name}" not in terms:
        raise errors.bad_request("fieldSelector metadata.name doesn't match requested name")
    return fields


async def open_watcher(scope: Scope, options: ListOptions, *, framed: bool) -> tuple[int, Watcher | None, bytes]:
    """A watcher, or the ERROR event, if any, that the stream consists of."""
    chosen = selector(scope, options.labels, options.fields)
    token = scope.hub.token()
    if scope.accepted.transform == "PartialObjectMetadataList":
        # No event is a list: upstream opens the stream and ends it.
        return token, None, b""
    try:
        if options.revision is None:
            await reached(scope, None)
        elif options.initial_events and options.revision:
            await reached(scope, options.revision)
    except errors.ApiError as e:
        return token, None, error_event(scope, e)
    revision, _ = start(options)
    if revision is None and options.initial_events is False:
        revision = scope.collection.revision
    try:
        watcher = scope.collection.watch(scope.resource.native, chosen, scope.form(), revision, token, framed)
    except Expired as e:
        return token, None, error_event(scope, errors.gone(f"too old resource version: {e.asked} ({e.oldest})"))
    return token, watcher, b""


async def watch(scope: Scope) -> web.StreamResponse:
    """Streams events until the time is up, the client goes or the server ends."""
    request = scope.request
    plain = not truth(scope.params, "watch")
    options = read_options(scope, watch=not plain)
    if plain:
        options.marked = False
    if scope.info.name:
        options.fields = named(scope, options.fields)
    if scope.accepted.yaml:
        raise errors.not_acceptable(STREAMS)
    if request.headers.get("Upgrade", "").lower() == "websocket":
        return await websocket(scope, options)
    transport = request.transport
    chunked = request.version >= (1, 1)
    token, watcher, error = await open_watcher(scope, options, framed=chunked)
    if transport is None:
        return respond.Streamed(200, close=True)
    head = b"HTTP/1.1 200 OK\r\n" + scope.common + respond.header_lines({}, scope.warnings) + respond.CLOCK.line()
    head += b"Content-Type: %s\r\n" % STREAMED.get(scope.accepted.media, JSON).encode()
    head += b"Transfer-Encoding: chunked\r\n\r\n" if chunked else b"Connection: close\r\n\r\n"
    sink = TransportSink(transport, head)
    if watcher is None:
        last = (chunk(error) if error else b"") + b"0\r\n\r\n"
        sink.write(last if chunked else error)
        return respond.Streamed(200, close=not chunked)
    await run(scope, options, token, watcher, sink, framed=chunked)
    if chunked and not transport.is_closing():
        transport.write(b"0\r\n\r\n")
    return respond.Streamed(200, close=not chunked or scope.hub.closing)


def bind(scope: Scope, stream: WatchStream) -> None:
    """Tie a stream to the definition of its resource: it ends when that changes, and a webhook may have to convert."""
    stream.subject = scope.resource.storage
    converter = scope.resource.webhook
    if converter is None:
        return

    async def convert(pending: list[engine.Stored]) -> None:
        await converter.show(pending, scope.resource.api_version)

    stream.convert = convert


@contextmanager
def streaming(
    scope: Scope, options: ListOptions, token: int, watcher: Watcher, sink: Sink, *, framed: bool, piece: int = PIECE
) -> Iterator[WatchStream]:
    """A stream that has begun to give what is there already, with its deadline; it ends with the block.

    Raises what keeps the first event from being shown: then nothing was written yet.
    """

    def failed(error: errors.ApiError) -> bytes:
        data = error_event(scope, error)
        return chunk(data) if framed else data

    stream = WatchStream(scope.hub, token, watcher, sink, failed, bookmarks=options.bookmarks, piece=piece)
    stream.initial_mark = start(options)[1]
    if scope.resource.custom:
        bind(scope, stream)
    seconds = options.timeout or random.uniform(1800, 3600)
    loop = asyncio.get_running_loop()
    timer = loop.call_later(max(seconds, 0), stream.end)
    # A last mark shortly before the end lets the client resume from there (upstream: 2 s before the deadline).
    last_mark = loop.call_later(seconds - 2, stream.bookmark) if seconds > 4 else None
    try:
        if scope.hub.closing:
            stream.end()
        stream.pump()
        yield stream
    finally:
        timer.cancel()
        if last_mark is not None:
            last_mark.cancel()
        stream.end()


async def run(
    scope: Scope, options: ListOptions, token: int, watcher: Watcher, sink: TransportSink, *, framed: bool
) -> None:
    """Keep a stream going to its end."""
    protocol = scope.request.protocol
    with streaming(scope, options, token, watcher, sink, framed=framed) as stream:
        sink.begin()
        try:
            while not stream.ended.done():
                await stream.wake.wait()
                stream.wake.clear()
                while stream.behind and not stream.ended.done():
                    await room(protocol, stream)
                    if sink.paused():
                        # Over TLS the record layer holds bytes of its own, of which nobody tells when they have gone.
                        await asyncio.wait({stream.ended}, timeout=0.01)
                    stream.pump()
            if protocol.writing_paused:
                async with asyncio.timeout(LEAVE_SECONDS):
                    await protocol._drain_helper()
        except errors.FAULTS as e:
            stopped(stream, scope.request.transport, e)


async def room(protocol: web.RequestHandler, stream: WatchStream) -> None:
    """Wait until the reader has taken most of what was written, or the stream has ended."""
    if not protocol.writing_paused:
        return
    draining = asyncio.ensure_future(protocol._drain_helper())
    try:
        await asyncio.wait({draining, stream.ended}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        draining.cancel()
        await asyncio.gather(draining, return_exceptions=True)


def stopped(stream: WatchStream, transport: asyncio.Transport | None, fault: BaseException) -> None:
    """End a stream that a fault of its handler stopped, in the stream itself: after the head there is no other answer.

    A reader that has gone, or does not take the rest of an ended stream in time, is dropped.
    """
    if transport is None or transport.is_closing() or isinstance(fault, TimeoutError):
        stream.end()
        if transport is not None:
            transport.abort()
    else:
        stream.fail(fault)


class SocketSink:
    """A stream of WebSocket messages, one an event: text, or bytes without the length that goes before them in HTTP."""

    def __init__(self, accepted: Accepted) -> None:
        self._text = not accepted.binary
        self._skipped = 4 if accepted.protobuf else 0
        self._queue: deque[bytes] = deque()
        self._size = 0
        self.begun = False
        self.filled = asyncio.Event()
        """Set when there is a message to send."""

    def write(self, data: bytes) -> None:
        self._queue.append(data[self._skipped :])
        self._size += len(data)
        self.filled.set()

    def paused(self) -> bool:
        return self._size > HIGH_WATER

    async def send(self, socket: web.WebSocketResponse) -> None:
        """Send what waits, each message when the reader has taken the ones before."""
        while self._queue and not socket.closed:
            data = self._queue.popleft()
            if self._text:
                await socket.send_str(data.decode())
            else:
                await socket.send_bytes(data)
            self._size -= len(data) + self._skipped
        self.filled.clear()


async def websocket(scope: Scope, options: ListOptions) -> web.StreamResponse:
    """The same stream, one message an event; what the client sends is ignored (`WatchServer.HandleWS`)."""
    asked = scope.request.headers.get("Sec-WebSocket-Protocol", "")
    socket = web.WebSocketResponse(protocols=[name.strip() for name in asked.split(",") if name.strip()])
    token, watcher, error = await open_watcher(scope, options, framed=False)
    sink = SocketSink(scope.accepted)
    if watcher is None:
        await socket.prepare(scope.request)
        if error:
            sink.write(error)
        await sink.send(socket)
        await socket.close()
        return socket
    with streaming(scope, options, token, watcher, sink, framed=False, piece=ONE) as stream:
        # From here on a fault of the stream is told in it.
        sink.begun = True
        await socket.prepare(scope.request)
        reader = asyncio.ensure_future(_ignored(socket))
        reader.add_done_callback(lambda _: stream.end())
        sending = asyncio.ensure_future(_sent(socket, sink, stream))
        try:
            await asyncio.wait({sending, stream.ended}, return_when=asyncio.FIRST_COMPLETED)
            stream.end()
            async with asyncio.timeout(LEAVE_SECONDS):
                await sending
                await socket.close()
        except errors.FAULTS as e:
            if not isinstance(e, TimeoutError | ConnectionError):
                LOG.exception("a stream broke off")
            if scope.request.transport is not None:
                scope.request.transport.abort()
        finally:
            reader.cancel()
            sending.cancel()
            await asyncio.gather(reader, sending, return_exceptions=True)
    return socket


async def _sent(socket: web.WebSocketResponse, sink: SocketSink, stream: WatchStream) -> None:
    """Send messages until the stream has ended and the last one is sent."""
    stream.ended.add_done_callback(lambda _: sink.filled.set())
    while True:
        await sink.filled.wait()
        await sink.send(socket)
        if stream.ended.done():
            return
        if stream.behind:
            stream.pump()


async def _ignored(socket: web.WebSocketResponse) -> None:
    """Read until the client has closed."""
    async for _ in socket:
        pass
