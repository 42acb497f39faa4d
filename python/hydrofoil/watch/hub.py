"""The hub: woken watchers and their streams."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from functools import partial
from itertools import count
from typing import Protocol

from hydrofoil.clock import Clock, Timer, stopwatch
from hydrofoil.errors import FAULTS
from hydrofoil.pace.sizes import WATCHERS_AT_ONCE
from hydrofoil.pace.turn import current_turn
from hydrofoil.storage.storage import Storage

LOG = logging.getLogger("hydrofoil")
BOOKMARK_SECONDS = 60.0
RETRY_SECONDS = 1.0
"""The delay before a stream is served again after a fault that it did not end with."""
NOTHING, MORE, INITIAL_END, LAPPED = range(4)
"""The state of a watcher after a drain."""


class Served(Protocol):
    """A stream that is served when its watcher is woken."""

    @property
    def urgent(self) -> bool:
        """Report whether events are sent before the write that caused them is answered."""

    @property
    def subject(self) -> tuple[str, str] | None:
        """Return the collection of its objects, if their form may change."""

    def pump(self) -> None:
        """Send waiting events."""

    def bookmark(self) -> None:
        """Send the position to the reader."""

    def cut(self) -> None:
        """End after the last events: the objects have another form from now on."""

    def end(self) -> None:
        """End the stream."""


class Hub:
    """All open watches. A write reaches few of them at once and many at the end of the loop's turn.

    So do writes of controllers, for which no client waits: a hundred of them are one piece of output to a watcher.
    """

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._streams: dict[int, Served] = {}
        self._tokens = count(1)
        self._waiting: deque[int] = deque()
        """Tokens of woken watchers that are not served yet."""
        self._share = current_turn().watchers
        self._armed = False
        """Whether woken watchers are served in the next turn."""
        self._delivered: asyncio.Future[None] | None = None
        """Done when no watcher waits; made by the first of those who wait for that."""
        self._bookmarks: Timer | None = None
        self.closing = False
        storage.subscribe(self.wake)

    def wake(self) -> None:
        """Serve the woken watchers: at once if they are few, else soon; call it from any thread.

        Native threads, independent of Python, write to the descriptor of the view instead.
        """
        if threading.get_ident() == self._thread:
            self._serve_woken()
        else:
            self._loop.call_soon_threadsafe(self._serve_woken)

    def _serve_woken(self) -> None:
        tokens = self._storage.take_woken()
        if len(tokens) > WATCHERS_AT_ONCE:
            self._waiting += tokens
        else:
            for token in tokens:
                stream = self._streams.get(token)
                if stream is None:
                    continue
                if stream.urgent and self._storage.is_awaited:
                    self.serve(token)
                else:
                    self._waiting.append(token)
        if self._waiting:
            self._arm()

    @property
    def idle(self) -> bool:
        """Report whether no woken watcher waits for a later turn: all events so far have reached their streams."""
        return not self._waiting

    @property
    def slice(self) -> float:
        """Return the seconds that one watcher may have of a turn."""
        return self._share.seconds

    async def delivered(self) -> None:
        """Wait until no woken watcher waits for a later turn."""
        if self._waiting:
            if self._delivered is None:
                self._delivered = self._loop.create_future()
            await asyncio.shield(self._delivered)

    def again(self, token: int) -> None:
        """Serve a watcher once more in a later turn."""
        self._waiting.append(token)
        self._arm()

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            self._share.defer(self._drain)

    def _drain(self) -> None:
        self._armed = False
        waiting = self._waiting
        end = stopwatch() + self._share.left
        # A watcher woken meanwhile has a later turn.
        for _ in range(len(waiting)):
            self.serve(waiting.popleft())
            if stopwatch() > end:
                break
        if waiting:
            self._arm()
        elif self._delivered is not None:
            delivered, self._delivered = self._delivered, None
            delivered.set_result(None)

    def serve(self, token: int) -> None:
        """Serve one stream; a fault that it cannot end with itself affects no other stream.

        Its watcher may not be drained then, and one that is not drained is never woken: it is served again later.
        """
        try:
            if (stream := self._streams.get(token)) is not None:
                stream.pump()
        except FAULTS:
            LOG.exception("a watch failed")
            self._clock.machine.later(RETRY_SECONDS, partial(self.again, token))

    def token(self) -> int:
        """Return a new token for a watcher."""
        return next(self._tokens)

    def cut(self, subject: tuple[str, str]) -> None:
        """End the streams of a subject after their last events: the form of its objects is no longer served."""
        for stream in [s for s in self._streams.values() if s.subject == subject]:
            stream.cut()

    def add(self, token: int, stream: Served) -> None:
        """Add a stream."""
        self._streams[token] = stream
        if self._bookmarks is None:
            self._bookmarks = self._clock.later(BOOKMARK_SECONDS, self._mark, repeats=True)

    def remove(self, token: int) -> None:
        """Remove a stream."""
        self._streams.pop(token, None)

    def _mark(self) -> None:
        """Send every reader its position, in slices."""
        self._bookmarks = self._clock.later(BOOKMARK_SECONDS, self._mark, repeats=True) if self._streams else None
        self._share.defer(partial(self._mark_some, deque(self._streams)))

    def _mark_some(self, tokens: deque[int]) -> None:
        end = stopwatch() + self._share.left
        while tokens and stopwatch() < end:
            if (stream := self._streams.get(tokens.popleft())) is not None:
                stream.bookmark()
        if tokens:
            self._share.defer(partial(self._mark_some, tokens))

    def __len__(self) -> int:
        return len(self._streams)

    def close(self) -> None:
        """End every stream cleanly."""
        self.closing = True
        if self._bookmarks is not None:
            self._bookmarks.cancel()
        for stream in list(self._streams.values()):
            stream.end()
