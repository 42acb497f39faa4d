"""Answers: handlers and filters make them, `endpoints/wire.py` alone writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

Piece = bytes | memoryview
TEXT = "text/plain; charset=utf-8"
"""The media type of plain text answers."""
HIGH_WATER = 64 * 1024
"""The number of unsent bytes above which a reader is behind; transports pause at the same mark."""
LEAVE_SECONDS = 5.0
"""The time a reader has for the rest of a stream that has ended."""
NOSNIFF = b"X-Content-Type-Options: nosniff\r\n"


class Sink(Protocol):
    """The writer of a streamed body."""

    @property
    def begun(self) -> bool:
        """Report whether the head was sent, so that no other answer is possible."""

    def begin(self) -> None:
        """Send the head unless it was sent; otherwise the first piece takes it along."""

    def write(self, *pieces: Piece) -> None:
        """Write pieces, together one chunk; they are kept, not copied."""

    def paused(self) -> bool:
        """Report whether the reader is behind by more than 64 KiB, so that writing should pause."""

    async def drained(self) -> None:
        """Wait until the reader has taken most of the output. Raise ConnectionError when it has disconnected."""


class Feed(Protocol):
    """A receiver of a client's bytes on a bare connection; the interface is that of aiohttp's payload parsers."""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Take bytes; return whether they were the last, and the bytes left over."""

    def feed_eof(self) -> None:
        """Take the end of the input."""


class Socket(Protocol):
    """An accepted WebSocket."""

    async def send(self, data: bytes, *, text: bool) -> None:
        """Send a message once the reader has taken the previous ones."""

    async def left(self) -> None:
        """Wait until the client has closed; its messages are ignored."""

    async def close(self) -> None:
        """Send a close message, and wait for the client's."""

    @property
    def closed(self) -> bool:
        """Report whether nothing more can be sent."""


class Line(Sink, Protocol):
    """A bare connection in both directions, for answers that take it over."""

    def receive(self, feed: Feed) -> None:
        """Pass further input of the client to a feed."""

    def hold(self, *, on: bool) -> None:
        """Pause or resume reading from the client."""

    async def accept(self, protocols: list[str]) -> Socket:
        """Upgrade to a WebSocket with one of these protocols."""


class Stream(Protocol):
    """A body that is written in pieces. It is data: filters and metrics read what they know of its class."""

    async def write(self, line: Line) -> None:
        """Write the body. Only an answer that takes over the connection uses more of the line than a `Sink` has."""


class Answer(Struct):
    """The response to a request: status, header lines and body."""

    status: int
    head: bytes
    """Header lines, each with its line end, without those that delimit the body."""
    body: bytes = b""
    stream: Stream | None = None
    """The body instead, in pieces. Work that may fail is done before the head, or else before the first piece."""
    tap: Callable[[Piece], None] | None = None
    """Called with each piece of a stream before it is written."""
    breaks: bool = False
    """Whether the connection breaks after half of the first piece of a stream."""
    takes_over: bool = False
    """Whether the stream writes its head itself and keeps the connection: upgrades."""
    framed: bool = False
    """Whether the pieces of the stream are framed as chunks already."""
    sized: bool = False
    """Whether the head has the length of the body, or the reason for its absence."""
    close: bool = False
    """Whether the connection ends with this answer."""


class Dropped(ConnectionResetError):
    """A stream whose connection breaks behind its output so far: neither an end of the body nor a Status follows."""


class Outcome(Struct):
    """The outcome of a request."""

    status: int
    """The status of the answer; 500 if there was none."""
    whole: bool
    """Whether all of it was written, or is about to be."""


def plain(status: int, text: str, common: bytes = b"") -> Answer:
    """Return a plain text answer, as Go's `http.Error` does; `common`: header lines before its own."""
    return Answer(status, b"%s%sContent-Type: %s\r\n" % (common, NOSNIFF, TEXT.encode()), text.encode())
