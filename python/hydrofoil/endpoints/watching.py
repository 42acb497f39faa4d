"""The body of a watch over HTTP, as data: its stream of events, and the deadline at which it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import orjson

from hydrofoil import engine, errors
from hydrofoil.answer import Dropped, Line, Sink
from hydrofoil.clock import Timer
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.params import ListOptions
from hydrofoil.engine import Watcher
from hydrofoil.watch.stream import PIECE, WatchStream

SHORT_SECONDS = 1.2
"""When a watch that ends soon gets its bookmark."""


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


class Watching:
    """The body of a watch."""

    def __init__(
        self,
        context: Context,
        options: ListOptions,
        token: int,
        watcher: Watcher | None,
        error: bytes,
        *,
        framed: bool,
        piece: int = PIECE,
    ) -> None:
        """Take a watcher, or the event that is the whole stream."""
        self._context = context
        self._options = options
        self._framed = framed
        self.error = self._frame(error) if error else b""
        """The ERROR event of a watch that cannot begin; empty: none."""
        self.watch: WatchStream | None = None
        """The stream of events; None for a watch that cannot begin."""
        if watcher is not None:
            self.watch = WatchStream(context.hub, token, watcher, self._error, bookmarks=options.bookmarks, piece=piece)
            self.watch.initial_mark = start(options)[1]
            if context.resource.custom:
                bind(context, self.watch)

    def _error(self, error: errors.ApiError) -> bytes:
        return self._frame(error_event(self._context, error))

    def _frame(self, data: bytes) -> bytes:
        return chunk(data) if self._framed else data

    async def write(self, line: Line) -> None:
        """Write events until the deadline, the client or the server ends the watch. Raise Dropped."""
        watch = self.watch
        if watch is None:
            if self.error:
                line.write(self.error)
            return
        with self.streaming(watch, line):
            if not watch.dropped:
                line.begin()
            try:
                while not watch.ended.done():
                    await watch.wake.wait()
                    watch.wake.clear()
                    while watch.behind and not watch.ended.done():
                        await room(line, watch)
                        watch.pump()
            except ConnectionError:
                # The client has disconnected.
                raise
            except errors.FAULTS as e:
                # After the head, an error can be reported only as an event.
                watch.fail(e)
            if watch.dropped:
                raise Dropped

    @contextmanager
    def streaming(self, watch: WatchStream, sink: Sink) -> Iterator[None]:
        """Send the first events, and set the deadline; the stream ends with the block.

        Raise the error that prevents the first event: nothing is written by then.
        """
        context = self._context
        timers: list[Timer] = []
        # From `begin` on, the hub writes to the sink: whatever fails, the stream has to end before another answer may
        # be written to the same connection.
        try:
            watch.begin(sink)
            seconds = self._options.timeout or context.parts.chance.between(1800, 3600)
            clock = context.parts.clock
            timers.append(clock.later(max(seconds, 0), watch.end))
            if seconds > 4:
                # A bookmark shortly before the end lets the client resume from it (upstream: 2 s before the deadline).
                timers.append(clock.later(seconds - 2, watch.bookmark))
            elif seconds >= 2:
                # As upstream, which looks for such watches about once a second (`cacher/cache_watcher.go`).
                timers.append(clock.later(SHORT_SECONDS, watch.bookmark))
            if context.hub.closing:
                watch.end()
            watch.pump()
            yield
        finally:
            watch.end()
            for timer in timers:
                timer.cancel()


def bind(context: Context, stream: WatchStream) -> None:
    """Tie a stream to the definition of its resource: end it when that changes, and convert through its webhook."""
    stream.subject = context.resource.storage
    stream.convert = context.registry.converter(context.resource)


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
