"""One watch: events from a cursor to a transport."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from hydrofoil import engine

if TYPE_CHECKING:
    from hydrofoil.watch.hub import Hub

PIECE = 64 * 1024
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
    ) -> None:
        self._hub = hub
        self._token = token
        self._watcher = watcher
        self._sink = sink
        self._bookmarks = bookmarks
        self._lapped = lapped
        self.subject: tuple[str, str] | None = None
        """The shard whose objects it shows, where these may change their form."""
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
            data, left = self._watcher.drain(PIECE)
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
