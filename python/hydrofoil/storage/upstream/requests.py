"""What a feed asks of the other server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol


class Failed(Exception):
    """A request without an answer. It has one line with the reason."""


class Document(NamedTuple):
    """A complete answer."""

    status: int
    body: bytes


class Body(NamedTuple):
    """An answer whose body arrives piece by piece."""

    status: int
    pieces: AsyncIterator[bytes]


class Requests(Protocol):
    """Requests to the other server, with the credentials of this one. Both raise Failed."""

    async def get(self, target: str, seconds: float, *, accept: str = "application/json") -> Document:
        """Return the answer for a path with a query, within some seconds."""

    def stream(self, target: str, silence: float) -> AbstractAsyncContextManager[Body]:
        """Open an answer that lasts; it fails after some seconds without a byte."""
