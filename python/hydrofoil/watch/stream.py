"""One watch: events from a cursor to a transport."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from hydrofoil import engine

if TYPE_CHECKING:
    from hydrofoil.watch.hub import Hub

PIECE = 64 * 1024
CONVERTED = 500
"""How many events are looked at for objects that a webhook has to convert."""
NOTHING, MORE, INITIAL_END, LAPPED = range(4)


class Sink(Protocol):
    """Where frames go: a transport, or a WebSocket."""

    def write(self, data: bytes) -> None:
        """Writes a piece of the stream."""

    def paused(self) -> bool:
        """Whether the reader is behind, so that nothing more should be written now."""


class WatchStream:
    """Drains a watcher while its reader keeps up; the cursor stands still while it does not."""

    def __init__(
        self,
        hub: Hub,
        token: int,
        watcher: engine.Watcher,
        sink: Sink,
        lapped: Callable[[], bytes],
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
        self._lapped = lapped
        self.subject: tuple[str, str] | None = None
        """The shard whose objects it shows, where these may change their form."""
        self.convert: Callable[[list[engine.Stored]], Awaitable[bytes | None]] | None = None
        """Has objects converted before they are shown; gives the event to end with where that fails."""
        self._converting: asyncio.Task[None] | None = None
        self.initial_mark = False
        self.behind = False
        """Whether the last pump stopped because of the reader."""
        self.wake = asyncio.Event()
        """Set when the handler has something to do: the reader is behind, or the stream has ended."""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        hub.add(token, self)

    def pump(self) -> None:
        """Writes what waits, until nothing does or the reader is behind."""
        if self.ended.done():
            return
        self.behind = False
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
                return
            if left == INITIAL_END and self.initial_mark:
                self.bookmark(initial=True)
            elif left == LAPPED:
                self._sink.write(self._lapped())
                self.end()
                return

    def _prepare(self, convert: Callable[[list[engine.Stored]], Awaitable[bytes | None]]) -> bool:
        """Whether waiting events have to be converted first; the stream goes on by itself then."""
        if self._converting is not None:
            return True
        pending = self._watcher.pending(CONVERTED)
        if pending:
            self._converting = asyncio.create_task(self._convert(convert, pending))
        return bool(pending)

    async def _convert(
        self, convert: Callable[[list[engine.Stored]], Awaitable[bytes | None]], pending: list[engine.Stored]
    ) -> None:
        last = await convert(pending)
        self._converting = None
        if last is not None and not self.ended.done():
            self._sink.write(last)
            self.end()
        self.pump()

    def bookmark(self, *, initial: bool = False) -> None:
        """Tells the reader how far it is; the end of the initial state is told to the slowest reader too."""
        if self._bookmarks and not self.ended.done() and (initial or not self._sink.paused()):
            mark = self._watcher.bookmark(initial)
            if mark is not None:
                self._sink.write(mark)

    def cut(self) -> None:
        """Ends the stream because its objects have another form now; its reader has to begin anew."""
        self.end()

    def end(self) -> None:
        """Ends the stream; its handler writes the end of the body."""
        self._hub.remove(self._token)
        if not self.ended.done():
            self.ended.set_result(None)
            self.wake.set()
