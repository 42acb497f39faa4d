"""Watches over HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
from hydrofoil.storage.backend import Expired
from hydrofoil.watch.stream import PIECE, Sink, WatchStream

HIGH_WATER = 64 * 1024
"""A reader with more than this many bytes waiting is behind: the mark at which transports pause too."""


class TransportSink:
    """A stream of HTTP/1.1 chunks, or of bare lines for HTTP/1.0."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def write(self, data: bytes) -> None:
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
    if options.initial_events and options.revision and options.revision > scope.registry.backend.revision:
        try:
            await reached(scope, options.revision)
        except errors.ApiError as e:
            return token, None, error_event(scope, e)
    revision, _ = start(options)
    if revision is None and options.initial_events is False:
        revision = scope.registry.backend.revision
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
    transport.write(head)
    if watcher is None:
        last = (chunk(error) if error else b"") + b"0\r\n\r\n"
        transport.write(last if chunked else error)
        return respond.Streamed(200, close=not chunked)
    await run(scope, options, token, watcher, TransportSink(transport), framed=chunked)
    if chunked and not transport.is_closing():
        transport.write(b"0\r\n\r\n")
    return respond.Streamed(200, close=not chunked or scope.hub.closing)


def bind(scope: Scope, stream: WatchStream, *, framed: bool) -> None:
    """Ties a stream to the definition of its resource: it ends when that changes, and a webhook may have to convert."""
    stream.subject = scope.resource.storage
    if not scope.resource.webhook:
        return

    async def convert(pending: list[engine.Stored]) -> bytes | None:
        try:
            await scope.registry.show(scope.resource, pending)
        except errors.ApiError as e:
            data = error_event(scope, e)
            return chunk(data) if framed else data
        return None

    stream.convert = convert


@contextmanager
def streaming(
    scope: Scope, options: ListOptions, token: int, watcher: Watcher, sink: Sink, *, framed: bool, piece: int = PIECE
) -> Iterator[WatchStream]:
    """A stream that has given what is there already, with its deadline; it ends with the block."""

    def lapped() -> bytes:
        data = error_event(scope, errors.gone("too old resource version"))
        return chunk(data) if framed else data

    stream = WatchStream(scope.hub, token, watcher, sink, lapped, bookmarks=options.bookmarks, piece=piece)
    stream.initial_mark = start(options)[1]
    if scope.resource.custom:
        bind(scope, stream, framed=framed)
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
    """Keeps a stream going to its end."""
    protocol = scope.request.protocol
    with streaming(scope, options, token, watcher, sink, framed=framed) as stream:
        while not stream.ended.done():
            await stream.wake.wait()
            stream.wake.clear()
            while stream.behind and not stream.ended.done():
                await protocol._drain_helper()
                if sink.paused():
                    # Over TLS the record layer holds bytes of its own, of which nobody tells when they have gone.
                    await asyncio.wait({stream.ended}, timeout=0.01)
                stream.pump()


class SocketSink:
    """A stream of WebSocket messages, one an event: text, or bytes without the length that goes before them in HTTP."""

    def __init__(self, accepted: Accepted) -> None:
        self._text = not accepted.binary
        self._skipped = 4 if accepted.protobuf else 0
        self.queue: asyncio.Queue[bytes] = asyncio.Queue()

    def write(self, data: bytes) -> None:
        self.queue.put_nowait(data[self._skipped :])

    def paused(self) -> bool:
        return self.queue.qsize() > 1000

    async def send(self, socket: web.WebSocketResponse, data: bytes) -> None:
        """Sends one message."""
        if self._text:
            await socket.send_str(data.decode())
        else:
            await socket.send_bytes(data)


async def websocket(scope: Scope, options: ListOptions) -> web.StreamResponse:
    """The same stream, one message an event; what the client sends is ignored (`WatchServer.HandleWS`)."""
    asked = scope.request.headers.get("Sec-WebSocket-Protocol", "")
    socket = web.WebSocketResponse(protocols=[name.strip() for name in asked.split(",") if name.strip()])
    token, watcher, error = await open_watcher(scope, options, framed=False)
    await socket.prepare(scope.request)
    sink = SocketSink(scope.accepted)
    if watcher is None:
        if error:
            sink.write(error)
        await _rest(socket, sink)
        return socket
    reader = asyncio.ensure_future(_ignored(socket))
    try:
        with streaming(scope, options, token, watcher, sink, framed=False, piece=ONE) as stream:
            reader.add_done_callback(lambda _: stream.end())
            while not stream.ended.done():
                getter = asyncio.ensure_future(sink.queue.get())
                waited: set[asyncio.Future[Any]] = {getter, stream.ended}
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                if getter.done():
                    await sink.send(socket, getter.result())
                    if stream.behind:
                        stream.pump()
                else:
                    getter.cancel()
    finally:
        reader.cancel()
        await _rest(socket, sink)
    return socket


async def _ignored(socket: web.WebSocketResponse) -> None:
    """Reads until the client has closed."""
    async for _ in socket:
        pass


async def _rest(socket: web.WebSocketResponse, sink: SocketSink) -> None:
    """Sends what still waits, and closes."""
    while not sink.queue.empty() and not socket.closed:
        await sink.send(socket, sink.queue.get_nowait())
    await socket.close()
