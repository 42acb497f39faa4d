"""One watch: events from a cursor to a transport."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from hydrofoil import engine
from hydrofoil.answer import Sink
from hydrofoil.clock import stopwatch
from hydrofoil.complaints import Complaint
from hydrofoil.errors import FAULTS, ApiError, internal
from hydrofoil.watch.expired import history_overrun
from hydrofoil.watch.hub import INITIAL_END, LAPPED, NOTHING, Hub

LOG = logging.getLogger("hydrofoil")
SLOW = Complaint("a watch ends because its reader is slower than the history (--history-events, --history-window): {}")
PIECE = 64 * 1024
ONE = 1
"""A number of bytes so small that each drain returns one event."""
CONVERTED = 500
"""The number of events searched for objects that a webhook must convert."""


class Gate(Protocol):
    """The faults of a test on a watch."""

    def passes(self, stream: WatchStream) -> bool:
        """Report whether the next event may be sent; the stream may be ended instead."""

    def marks(self) -> bool:
        """Report whether a bookmark may be sent."""


class WatchStream:
    """A watcher's stream, drained while its reader keeps up; otherwise its cursor does not move."""

    urgent = True
    """Whether events are sent before the write that caused them is answered."""

    def __init__(
        self,
        hub: Hub,
        token: int,
        watcher: engine.Watcher,
        error: Callable[[ApiError], bytes],
        *,
        bookmarks: bool,
        piece: int = PIECE,
    ) -> None:
        self._hub = hub
        self._token = token
        self._watcher = watcher
        self._sink: Sink | None = None
        self._bookmarks = bookmarks
        self._piece = piece
        self._error = error
        self.subject: tuple[str, str] | None = None
        """The collection of its objects, if their form may change."""
        self.convert: Callable[[list[engine.Stored]], Awaitable[None]] | None = None
        """Convert objects before they are sent. Raise ApiError."""
        self.gate: Gate | None = None
        """The faults on the watch; with some, events are sent one by one."""
        self._converting: asyncio.Task[None] | None = None
        self._ending = False
        self._begun = 0.0
        self.initial_mark = False
        self.marked: float | None = None
        """The seconds until the end of the initial events was marked."""
        self.initial = 0
        """The number of initial events, once all are sent."""
        self.size = 0
        """The number of bytes of sent events."""
        self.lapped = False
        """Whether it has ended because its reader was too slow."""
        self.dropped = False
        """Whether its connection breaks behind the events so far: its end must not look like one."""
        self.behind = False
        """Whether the last pump stopped because of the reader."""
        self.wake = asyncio.Event()
        """Set if the handler must act: the reader is behind, or the stream has ended."""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def begin(self, sink: Sink) -> None:
        """Write events to a sink from now on; the caller pumps the first ones."""
        self._sink = sink
        self._begun = stopwatch()
        self._hub.add(self._token, self)

    def pump(self) -> None:
        """Write waiting events until none is left, the reader is behind or others are due; a fault ends this stream."""
        try:
            self._pump()
        except FAULTS as e:
            if self._sink is None or not self._sink.begun:
                # The handler can still answer with a Status.
                raise
            self.fail(e)

    def _pump(self) -> None:
        sink = self._sink
        if sink is None or self.ended.done():
            return
        self.behind = False
        end = stopwatch() + self._hub.slice
        while True:
            if sink.paused():
                self.behind = True
                self.wake.set()
                return
            if self.convert is not None and self._prepare(self.convert):
                return
            if self.gate is not None and not self.gate.passes(self):
                return
            data, left = self._watcher.drain(self._piece if self.gate is None else ONE)
            if data is not None:
                sink.write(data)
                self.size += len(data)
            if left == NOTHING:
                if self._ending:
                    self.end()
                return
            if left == INITIAL_END:
                self.initial = self._watcher.position()[0]
            if left == INITIAL_END and self.initial_mark:
                self._mark(initial=True)
            elif left == LAPPED:
                self.lapped = True
                SLOW.say(f"{self.size} bytes were sent")
                sink.write(self._error(history_overrun()))
                self.end()
                return
            if stopwatch() > end:
                self._hub.again(self._token)
                return

    def position(self) -> tuple[int, int | None]:
        """Return the number of sent events, and the revision reached; None during the initial state."""
        return self._watcher.position()

    def fail(self, fault: BaseException) -> None:
        """End the stream with an ERROR event for a fault."""
        if self.ended.done():
            return
        if isinstance(fault, ApiError):
            error = fault
        elif isinstance(fault, engine.ConversionError):
            error = ApiError(500, "", fault.message)
        else:
            LOG.error("a watch failed", exc_info=fault)
            error = internal(fault)
        try:
            if self._sink is not None:
                self._sink.write(self._error(error))
        except FAULTS:
            LOG.exception("a watch ended without telling why")
        self.end()

    def _prepare(self, convert: Callable[[list[engine.Stored]], Awaitable[None]]) -> bool:
        """Report whether waiting events must be converted first; the stream then continues by itself."""
        if self._converting is not None:
            return True
        pending = self._watcher.pending(CONVERTED)
        if pending:
            self._converting = asyncio.create_task(self._convert(convert, pending))
        return bool(pending)

    async def _convert(
        self, convert: Callable[[list[engine.Stored]], Awaitable[None]], pending: list[engine.Stored]
    ) -> None:
        try:
            await convert(pending)
        except FAULTS as e:
            self.fail(e)
        finally:
            self._converting = None
        try:
            self.pump()
        except FAULTS as e:
            self.fail(e)

    def bookmark(self) -> None:
        """Send a bookmark unless the reader is behind."""
        try:
            if self._sink is not None and not self.ended.done() and not self._sink.paused():
                self._mark(initial=False)
        except FAULTS as e:
            self.fail(e)

    def _mark(self, *, initial: bool) -> None:
        """Write a bookmark; the end of the initial events is sent to the slowest reader too."""
        sink = self._sink
        if sink is not None and self._bookmarks and (self.gate is None or self.gate.marks()):
            mark = self._watcher.bookmark(initial)
            if mark is not None:
                sink.write(mark)
                if initial:
                    self.marked = stopwatch() - self._begun

    def cut(self) -> None:
        """End after the last events: the objects have another form from now on, and the reader must start again."""
        self._ending = True
        try:
            self.pump()
        except FAULTS as e:
            self.fail(e)

    def drop(self) -> None:
        """End the stream without the end of its body."""
        self.dropped = True
        self.end()

    def end(self) -> None:
        """End the stream; its handler writes the end of the body."""
        self._hub.remove(self._token)
        if not self.ended.done():
            self.ended.set_result(None)
            self.wake.set()
