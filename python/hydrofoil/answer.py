"""Answers: rooms make them, `endpoints/wire.py` alone writes them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

Piece = bytes | memoryview
TEXT = "text/plain; charset=utf-8"
"""The media type of what is no object."""


class Sink(Protocol):
    """Where the body of a stream goes."""

    @property
    def begun(self) -> bool:
        """Whether the head has gone out, so that no other answer can be given."""

    def begin(self) -> None:
        """Send the head if it has not gone out; the first piece takes it along otherwise."""

    def write(self, *pieces: Piece) -> None:
        """Write pieces, together one chunk; they are kept, not copied."""

    def paused(self) -> bool:
        """Whether the reader is behind by more than 64 KiB, so that nothing more should be written now."""

    async def drained(self) -> None:
        """Wait until the reader has taken most of what was written. Raises ConnectionError when it has gone."""


class Feed(Protocol):
    """Takes what a client sends over a bare connection; the form is that of aiohttp's payload parsers."""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Take bytes. Gives whether this was all, and what is left over."""

    def feed_eof(self) -> None:
        """Take the end."""


class Socket(Protocol):
    """An accepted WebSocket."""

    async def send(self, data: bytes, *, text: bool) -> None:
        """Send a message when the reader has taken the ones before."""

    async def left(self) -> None:
        """Wait until the client has closed; what it says is ignored."""

    async def close(self) -> None:
        """Say that no more comes, and wait for the client to say so, too."""

    @property
    def closed(self) -> bool:
        """Whether nothing more can be sent."""


class Line(Sink, Protocol):
    """A bare connection, both ways: for answers that take it over."""

    def receive(self, feed: Feed) -> None:
        """Pass on what the client sends from now on."""

    def hold(self, *, on: bool) -> None:
        """Read no more of what the client sends, or go on."""

    async def accept(self, protocols: list[str]) -> Socket:
        """Become a WebSocket of one of these protocols."""


Stream = Callable[[Line], Awaitable[None]]
"""Writes a body. Most take a `Sink`; only what takes over a connection gets a whole `Line`."""


@dataclass(slots=True)
class Answer:
    """What goes back for a request: status, header lines and body."""

    status: int
    head: bytes
    """Header lines, each with its end, without those that tell where the body ends."""
    body: bytes = b""
    stream: Stream | None = None
    """Writes the body instead. What may fail is done before the head, or else before the first piece."""
    takes_over: bool = False
    """Whether the stream writes its head itself and gets the connection for good: upgrades."""
    framed: bool = False
    """Whether the stream gives pieces that are chunks already."""
    sized: bool = False
    """Whether the head tells the length of the body, or why there is none."""
    close: bool = False
    """Whether the connection ends with this answer."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended."""

    status: int
    """The status of the answer; 500 where none was made."""
    whole: bool
    """Whether all of it was written."""
