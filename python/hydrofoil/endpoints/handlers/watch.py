"""Watches over HTTP and WebSocket."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import orjson

from hydrofoil import engine, errors
from hydrofoil.answer import HIGH_WATER, LEAVE_SECONDS, Answer, Dropped, Line, Piece, Sink, Socket
from hydrofoil.authentication.bearer import PREFIX
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers.get import reached
from hydrofoil.endpoints.handlers.list import read_options, selector
from hydrofoil.endpoints.negotiate import CBOR, JSON, PROTOBUF, STREAMS, Accepted
from hydrofoil.endpoints.params import ListOptions, truth
from hydrofoil.engine import Watcher
from hydrofoil.storage.errors import Expired
from hydrofoil.watch import expired
from hydrofoil.watch.stream import ONE, PIECE, WatchStream

STREAMED = {PROTOBUF: f"{PROTOBUF};stream=watch", CBOR: "application/cbor-seq"}
"""The media type of a stream, by that of an object."""


def chunk(data: bytes) -> bytes:
    """Return one HTTP/1.1 chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def error_event(context: Context, error: errors.ApiError) -> bytes:
    """Return the ERROR event of a Status."""
    if context.accepted.protobuf:
        return engine.watch_event("protobuf", "ERROR", context.registry.catalog.protobuf(orjson.dumps(error.status())))
    if context.accepted.cbor:
        return engine.watch_event("cbor", "ERROR", engine.json_to_cbor(orjson.dumps(error.status())))
    return orjson.dumps({"type": "ERROR", "object": error.status()}) + b"\n"


def start(options: ListOptions) -> tuple[int | None, bool]:
    """Return the revision after which a watch begins (None: with initial events), and whether their end is marked."""
    if options.initial_events is not None:
        if options.initial_events:
            return None, True
        return options.revision or None, False
    if not options.revision:
        return None, options.marked
    return options.revision, False


def named(context: Context, fields: str) -> str:
    """Return the field selector of a watch whose path names one object. Raise ApiError 400 if it selects another."""
    name = context.info.name
    if not fields:
        return f"metadata.name={name}"
    selector(context, "", fields)
    terms = [term.replace("==", "=") for term in fields.split(",")]
    if f"metadata.name={name}" not in terms:
        raise errors.bad_request("fieldSelector metadata.name doesn't match requested name")
    return fields


async def open_watcher(context: Context, options: ListOptions, *, framed: bool) -> tuple[int, Watcher | None, bytes]:
    """Return a watcher, or the ERROR event, if any, that is the whole stream."""
    chosen = selector(context, options.labels, options.fields)
    context.collection.check_readable()
    token = context.hub.token()
    if context.accepted.transform == "PartialObjectMetadataList":
        # A list is not an event: upstream opens the stream and ends it.
        return token, None, b""
    try:
        if options.revision is None:
            await reached(context, None)
        elif options.initial_events and options.revision:
            await reached(context, options.revision)
    except errors.ApiError as e:
        return token, None, error_event(context, e)
    revision, _ = start(options)
    if revision is None and options.initial_events is False:
        revision = context.collection.revision
    try:
        watcher = context.collection.watch(
            context.resource.native, chosen, respond.form(context), revision, token, framed
        )
    except Expired as e:
        return token, None, error_event(context, expired.watch_start(e.asked, e.oldest))
    return token, watcher, b""


async def watch(context: Context) -> Answer:
    """Stream events until the deadline, the client or the server ends the watch."""
    request = context.request
    plain = not truth(context.params, "watch")
    options = read_options(context, watch=not plain)
    if plain:
        options.marked = False
    if context.info.name:
        options.fields = named(context, options.fields)
    if context.accepted.yaml:
        raise errors.not_acceptable(STREAMS)
    if request.headers.get("Upgrade", "").lower() == "websocket":
        return await websocket(context, options)
    framed = context.framed
    token, watcher, error = await open_watcher(context, options, framed=framed)

    async def events(sink: Sink) -> None:
        if watcher is not None:
            await run(context, options, token, watcher, sink, framed=framed)
        elif error:
            sink.write(chunk(error) if framed else error)

    media = STREAMED.get(context.accepted.media, JSON)
    return respond.streamed(context, events, media, framed=framed)


def bind(context: Context, stream: WatchStream) -> None:
    """Tie a stream to the definition of its resource: end it when that changes, and convert through its webhook."""
    stream.subject = context.resource.storage
    converter = context.resource.webhook
    if converter is None:
        return

    async def convert(pending: list[engine.Stored]) -> None:
        await converter.to_request_version(pending, context.resource.api_version)

    stream.convert = convert


@contextmanager
def streaming(
    context: Context,
    options: ListOptions,
    token: int,
    watcher: Watcher,
    sink: Sink,
    *,
    framed: bool,
    piece: int = PIECE,
) -> Iterator[WatchStream]:
    """Yield a stream with its first events and its deadline; it ends with the block.

    Raise the error that prevents the first event: nothing is written by then.
    """

    def failed(error: errors.ApiError) -> bytes:
        data = error_event(context, error)
        return chunk(data) if framed else data

    stream = WatchStream(context.hub, token, watcher, sink, failed, bookmarks=options.bookmarks, piece=piece)
    stream.initial_mark = start(options)[1]
    if context.resource.custom:
        bind(context, stream)
    if context.opened is not None:
        context.opened(stream)
    seconds = options.timeout or context.parts.chance.between(1800, 3600)
    clock = context.parts.clock
    timer = clock.later(max(seconds, 0), stream.end)
    # A bookmark shortly before the end lets the client resume from it (upstream: 2 s before the deadline).
    last_mark = clock.later(seconds - 2, stream.bookmark) if seconds > 4 else None
    try:
        if context.hub.closing:
            stream.end()
        stream.pump()
        yield stream
    finally:
        timer.cancel()
        if last_mark is not None:
            last_mark.cancel()
        stream.end()


async def run(
    context: Context, options: ListOptions, token: int, watcher: Watcher, sink: Sink, *, framed: bool
) -> None:
    """Run a stream to its end."""
    with streaming(context, options, token, watcher, sink, framed=framed) as stream:
        if not stream.dropped:
            sink.begin()
        try:
            while not stream.ended.done():
                await stream.wake.wait()
                stream.wake.clear()
                while stream.behind and not stream.ended.done():
                    await room(sink, stream)
                    stream.pump()
        except ConnectionError:
            # The client has disconnected.
            raise
        except errors.FAULTS as e:
            # After the head, an error can be reported only as an event.
            stream.fail(e)
        if stream.dropped:
            raise Dropped


async def room(sink: Sink, stream: WatchStream) -> None:
    """Wait until the reader has taken most of the output, or the stream has ended."""
    draining = asyncio.ensure_future(sink.drained())
    try:
        await asyncio.wait({draining, stream.ended}, return_when=asyncio.FIRST_COMPLETED)
        if draining.done():
            draining.result()
    finally:
        draining.cancel()
        await asyncio.gather(draining, return_exceptions=True)


class SocketSink:
    """A stream of WebSocket messages, one an event: text, or bytes without the length prefix of HTTP."""

    def __init__(self, accepted: Accepted) -> None:
        self._text = not accepted.binary
        self._skipped = 4 if accepted.protobuf else 0
        self._queue: deque[bytes] = deque()
        self._size = 0
        self.begun = False
        self.filled = asyncio.Event()
        """Set if there is a message to send."""

    def begin(self) -> None:
        """Mark the stream as begun: from now on an error is reported in it."""
        self.begun = True

    def write(self, *pieces: Piece) -> None:
        for data in pieces:
            self._queue.append(bytes(data[self._skipped :]))
            self._size += len(data)
        self.filled.set()

    def paused(self) -> bool:
        return self._size > HIGH_WATER

    async def drained(self) -> None:
        """Return at once: messages are sent one by one."""

    async def send(self, socket: Socket) -> None:
        """Send waiting messages, each once the reader has taken the previous ones."""
        while self._queue and not socket.closed:
            data = self._queue.popleft()
            await socket.send(data, text=self._text)
            self._size -= len(data) + self._skipped
        self.filled.clear()


async def websocket(context: Context, options: ListOptions) -> Answer:
    """Return the same stream, one message an event; messages of the client are ignored (`WatchServer.HandleWS`)."""
    asked = ",".join(context.headers.getall("Sec-WebSocket-Protocol", []))
    # A token among them is not repeated to the client.
    protocols = [name for part in asked.split(",") if (name := part.strip()) and not name.startswith(PREFIX)]
    token, watcher, error = await open_watcher(context, options, framed=False)
    sink = SocketSink(context.accepted)

    async def messages(line: Line) -> None:
        if watcher is None:
            socket = await line.accept(protocols)
            if error:
                sink.write(error)
            await sink.send(socket)
            await socket.close()
            return
        with streaming(context, options, token, watcher, sink, framed=False, piece=ONE) as stream:
            sink.begin()
            await converse(await line.accept(protocols), sink, stream)

    return Answer(101, context.common, stream=messages, takes_over=True)


async def converse(socket: Socket, sink: SocketSink, stream: WatchStream) -> None:
    """Run a stream of messages to its end. Raise TimeoutError if its reader does not take the rest, Dropped."""
    reader = asyncio.ensure_future(socket.left())
    reader.add_done_callback(lambda _: stream.end())
    sending = asyncio.ensure_future(_sent(socket, sink, stream))
    try:
        await asyncio.wait({sending, stream.ended}, return_when=asyncio.FIRST_COMPLETED)
        stream.end()
        async with asyncio.timeout(LEAVE_SECONDS):
            await sending
            if stream.dropped:
                raise Dropped
            await socket.close()
    finally:
        reader.cancel()
        sending.cancel()
        await asyncio.gather(reader, sending, return_exceptions=True)


async def _sent(socket: Socket, sink: SocketSink, stream: WatchStream) -> None:
    """Send messages until the stream has ended and the last one is sent."""
    stream.ended.add_done_callback(lambda _: sink.filled.set())
    while True:
        await sink.filled.wait()
        await sink.send(socket)
        if stream.ended.done():
            return
        if stream.behind:
            stream.pump()
