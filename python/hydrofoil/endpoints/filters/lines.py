"""A line around another one, for filters that look at the pieces of an answer."""

from __future__ import annotations

from hydrofoil.answer import Feed, Line, Piece, Socket


class Around:
    """A line that passes everything on."""

    def __init__(self, line: Line) -> None:
        self._line = line

    @property
    def begun(self) -> bool:
        return self._line.begun

    def begin(self) -> None:
        """Send the head unless it was sent."""
        self._line.begin()

    def write(self, *pieces: Piece) -> None:
        """Write pieces, together one chunk."""
        self._line.write(*pieces)

    def paused(self) -> bool:
        return self._line.paused()

    async def drained(self) -> None:
        """Wait until the reader has taken most of the output."""
        await self._line.drained()

    def receive(self, feed: Feed) -> None:
        """Pass further input of the client to a feed."""
        self._line.receive(feed)

    def hold(self, *, on: bool) -> None:
        """Pause or resume reading from the client."""
        self._line.hold(on=on)

    async def accept(self, protocols: list[str]) -> Socket:
        """Upgrade to a WebSocket."""
        return await self._line.accept(protocols)
