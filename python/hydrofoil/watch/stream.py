"""One watch: events from a cursor to a transport."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from hydrofoil import engine
from hydrofoil.answer import Sink
from hydrofoil.clock import stopwatch
from hydrofoil.errors import FAULTS, ApiError, gone, internal
from hydrofoil.watch.hub import INITIAL_END, LAPPED, NOTHING, SLICE_SECONDS, Hub

LOG = logging.getLogger("hydrofoil")
PIECE = 64 * 1024
CONVERTED = 500
"""How many events are looked at for objects that a webhook has to convert."""


class WatchStream:
    """Drains a watcher while its reader keeps up; the cursor stands still while it does not."""

    urgent = True
    """Whether events are given before the write that made them is answered."""

    def __init__(
        self,
        hub: Hub,
        token: int,
        watcher: engine.Watcher,
        sink: Sink,
        error: Callable[[ApiError], bytes],
        *,
        bookmarks: bool,
        piece: int = PIECE,
    ) -> None:
        self._hub = hub
        self._token = token
        self._watcher = watcher
        self._sink = sink
        self._bookmarks = bookmarks
        self._piece = piece
        self._error = error
        self.subject: tuple[str, str] | None = None
        """The collection whose objects it shows, where these may change their form."""
        self.convert: Callable[[list[engine.Stored]], Awaitable[None]] | None = None
        """Converts objects before they are shown. Raises ApiError."""
        self._converting: asyncio.Task[None] | None = None
        self._ending = False
        self.initial_mark = False
        self.behind = False
        """Whether the last pump stopped because of the reader."""
        self.wake = asyncio.Event()
        """Set when the handler has something to do: the reader is behind, or the stream has ended."""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        hub.add(token, self)

    def pump(self) -> None:
        """Write what waits, until nothing does, the reader is behind or others are due; a fault ends this stream."""
        try:
            self._pump()
        except FAULTS as e:
            if not self._sink.begun:
                # The handler can still answer with a Status.
                raise
            self.fail(e)

    def _pump(self) -> None:
        if self.ended.done():
            return
        self.behind = False
        due = stopwatch() + SLICE_SECONDS
        while True:
            if self._sink.paused():
                self.behind = True
                self.wake.set()
                return
            if self.convert is not None and self._prepare(self.convert):
                return
            data, left = self._watcher.drain(self._piece)
            if data is not None:
                self._sink.write(data)
            if left == NOTHING:
                if self._ending:
                    self.end()
                return
            if left == INITIAL_END and self.initial_mark:
                self._mark(initial=True)
            elif left == LAPPED:
                self._sink.write(self._error(gone("too old resource version")))
                self.end()
                return
            if stopwatch() > due:
                self._hub.again(self._token)
                return

    def fail(self, fault: BaseException) -> None:
        """End the stream with an ERROR event that tells of a fault."""
        if self.ended.done():
            return
        if isinstance(fault, ApiError):
            error = fault
        elif isinstance(fault, engine.ConversionError):
            error = ApiError(500, "", str(fault.args[1]))
        else:
            LOG.error("a watch failed", exc_info=fault)
            error = internal(fault)
        try:
            self._sink.write(self._error(error))
        except FAULTS:
            LOG.exception("a watch ended without telling why")
        self.end()

    def _prepare(self, convert: Callable[[list[engine.Stored]], Awaitable[None]]) -> bool:
        """Whether waiting events have to be converted first; the stream goes on by itself then."""
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
        """Tell the reader how far it is; one that is behind is not told."""
        try:
            if not self.ended.done() and not self._sink.paused():
                self._mark(initial=False)
        except FAULTS as e:
            self.fail(e)

    def _mark(self, *, initial: bool) -> None:
        """Write a bookmark; the end of the initial state is told to the slowest reader too."""
        if self._bookmarks:
            mark = self._watcher.bookmark(initial)
            if mark is not None:
                self._sink.write(mark)

    def cut(self) -> None:
        """End after the last events: the objects have another form from now on, and the reader has to begin anew."""
        self._ending = True
        try:
            self.pump()
        except FAULTS as e:
            self.fail(e)

    def end(self) -> None:
        """End the stream; its handler writes the end of the body."""
        self._hub.remove(self._token)
        if not self.ended.done():
            self.ended.set_result(None)
            self.wake.set()
