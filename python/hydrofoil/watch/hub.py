"""Brings woken watchers and their streams together, once a turn of the loop."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hydrofoil.storage.backend import Backend
    from hydrofoil.watch.stream import WatchStream

BOOKMARK_SECONDS = 60.0


class Hub:
    """All open watches. Writes of one turn of the loop are delivered together at its end."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._loop = asyncio.get_running_loop()
        self._streams: dict[int, WatchStream] = {}
        self._tokens = count(1)
        self._armed = False
        self._bookmarks: asyncio.TimerHandle | None = None
        self.closing = False

    def wake(self) -> None:
        """Has the woken watchers drained soon."""
        if not self._armed:
            self._armed = True
            self._loop.call_soon(self._drain)

    def _drain(self) -> None:
        self._armed = False
        streams = self._streams
        for token in self._backend.take_woken():
            stream = streams.get(token)
            if stream is not None:
                stream.pump()

    def token(self) -> int:
        """A new name for a watcher."""
        return next(self._tokens)

    def cut(self, subject: tuple[str, str]) -> None:
        """Ends the streams of a subject: what they show is no longer what the server serves."""
        for stream in [s for s in self._streams.values() if s.subject == subject]:
            stream.cut()

    def add(self, token: int, stream: WatchStream) -> None:
        """Takes a stream in."""
        self._streams[token] = stream
        if self._bookmarks is None:
            self._bookmarks = self._loop.call_later(BOOKMARK_SECONDS, self._mark)

    def remove(self, token: int) -> None:
        """Lets a stream go."""
        self._streams.pop(token, None)

    def _mark(self) -> None:
        self._bookmarks = self._loop.call_later(BOOKMARK_SECONDS, self._mark) if self._streams else None
        for stream in list(self._streams.values()):
            stream.bookmark()

    def __len__(self) -> int:
        return len(self._streams)

    def close(self) -> None:
        """Ends every stream cleanly."""
        self.closing = True
        if self._bookmarks is not None:
            self._bookmarks.cancel()
        for stream in list(self._streams.values()):
            stream.end()
