"""The line of an answer that breaks off: a fault of a test server."""

from __future__ import annotations

import asyncio
from typing import Any

from hydrofoil.answer import Dropped, Piece, Stream
from hydrofoil.endpoints.line import Line, WebSocket


class HalfLine(Line):
    """A line that takes the first half of the first piece, and nothing after it."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._full = asyncio.Event()

    def write(self, *pieces: Piece) -> None:
        """Write a half of the first pieces."""
        if not self._full.is_set():
            self._full.set()
            data = b"".join(pieces)
            super().write(data[: max(len(data) // 2, 1)])

    async def accept(self, protocols: list[str]) -> WebSocket:
        """Upgrade to a WebSocket, whose messages are no pieces: the head alone is the half."""
        socket = await super().accept(protocols)
        self._full.set()
        return socket

    async def take(self, stream: Stream) -> None:
        """Write a stream until its first piece. Raise its error, else Dropped."""
        writing, full = asyncio.ensure_future(stream.write(self)), asyncio.ensure_future(self._full.wait())
        try:
            await asyncio.wait({writing, full}, return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                writing.result()
        finally:
            for task in (writing, full):
                task.cancel()
            await asyncio.gather(writing, full, return_exceptions=True)
        raise Dropped

    def paused(self) -> bool:
        """Report that there is room: the stream ends at its first piece."""
        return False
