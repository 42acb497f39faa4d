"""Watches over HTTP and WebSocket."""

from __future__ import annotations

import asyncio
from collections import deque

from hydrofoil import errors
from hydrofoil.answer import HIGH_WATER, LEAVE_SECONDS, Answer, Dropped, Line, Piece, Socket
from hydrofoil.authentication.bearer import PREFIX
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers.get import wait_for_revision
from hydrofoil.endpoints.handlers.list import read_options, selector
from hydrofoil.endpoints.negotiate import CBOR, JSON, PROTOBUF, STREAMS, Accepted
from hydrofoil.endpoints.params import ListOptions, truth
from hydrofoil.endpoints.watching import Watching, error_event, start
from hydrofoil.engine import Watcher
from hydrofoil.storage.errors import Expired
from hydrofoil.watch import expired
from hydrofoil.watch.stream import ONE, WatchStream

STREAMED = {PROTOBUF: f"{PROTOBUF};stream=watch", CBOR: "application/cbor-seq"}
"""The media type of a stream, by that of an object."""


def field_selector_of_name(context: Context, fields: str) -> str:
    """Return the field selector of a watch whose path names one object. Raise ApiError 400 if it selects another."""
    name = context.info.name
    if not fields:
        return f"metadata.name={name}"
    if selector(context, "", fields).name != name:
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
            await wait_for_revision(context, None)
        elif options.initial_events and options.revision:
            await wait_for_revision(context, options.revision)
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
        options.fields = field_selector_of_name(context, options.fields)
    if context.accepted.yaml:
        raise errors.not_acceptable(STREAMS)
    if request.headers.get("Upgrade", "").lower() == "websocket":
        return await websocket(context, options)
    framed = context.framed
    token, watcher, error = await open_watcher(context, options, framed=framed)
    media = STREAMED.get(context.accepted.media, JSON)
    body = Watching(context, options, token, watcher, error, framed=framed)
    return respond.answer_stream(context, body, media, framed=framed)


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
    body = WatchingMessages(context, options, token, watcher, error, protocols)
    return Answer(101, context.common, stream=body, takes_over=True)


class WatchingMessages(Watching):
    """The events of a watch as messages of a WebSocket."""

    def __init__(
        self,
        context: Context,
        options: ListOptions,
        token: int,
        watcher: Watcher | None,
        error: bytes,
        protocols: list[str],
    ) -> None:
        super().__init__(context, options, token, watcher, error, framed=False, piece=ONE)
        self._protocols = protocols
        self._sink = SocketSink(context.accepted)

    async def write(self, line: Line) -> None:
        """Send the events until the watch ends."""
        sink = self._sink
        if self.watch is None:
            socket = await line.accept(self._protocols)
            if self.error:
                sink.write(self.error)
            await sink.send(socket)
            await socket.close()
            return
        with self.streaming(self.watch, sink):
            sink.begin()
            await converse(await line.accept(self._protocols), sink, self.watch)


async def converse(socket: Socket, sink: SocketSink, stream: WatchStream) -> None:
    """Run a stream of messages to its end. Raise TimeoutError if its reader does not take the rest, Dropped."""
    reader = asyncio.ensure_future(socket.left())
    reader.add_done_callback(lambda _: stream.end())
    sending = asyncio.ensure_future(_send_messages(socket, sink, stream))
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


async def _send_messages(socket: Socket, sink: SocketSink, stream: WatchStream) -> None:
    """Send messages until the stream has ended and the last one is sent."""
    stream.ended.add_done_callback(lambda _: sink.filled.set())
    while True:
        await sink.filled.wait()
        await sink.send(socket)
        if stream.ended.done():
            return
        if stream.behind:
            stream.pump()
