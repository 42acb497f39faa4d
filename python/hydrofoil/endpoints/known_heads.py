"""Requests whose head is like one before: a client sends the same header lines with each of its requests.

Such a request needs neither the parser nor a task of its own: header lines that the parser has read and this server
has accepted mean the same again. What is decided by them is decided anew for each request, by the same filters.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from aiohttp.http_writer import HttpVersion, HttpVersion11
from multidict import CIMultiDict, CIMultiDictProxy

from hydrofoil import engine
from hydrofoil.headers import CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING, UPGRADE

if TYPE_CHECKING:
    import asyncio

Headers = CIMultiDict[str] | CIMultiDictProxy[str]


class KnownHeads:
    """The header lines that were accepted, and what the parser read in them.

    Lines are compared byte by byte (`rust/repeat`). What they mean depends on nothing else, so none ever has to be
    forgotten.
    """

    def __init__(self) -> None:
        self._native = engine.KnownHeads()

    def request(self, connection: Any, data: bytes) -> WholeRequest | None:
        """Return the request that a connection received; None if it is not a whole one, or its lines are unknown."""
        found = self._native.find(data)
        if found is None:
            return None
        method, target, headers, length, body = found
        if length is not None and headers[CONTENT_LENGTH] != length:
            # Requests that are alike otherwise have bodies of other lengths.
            changed = CIMultiDict(headers)
            changed[CONTENT_LENGTH] = length
            headers = CIMultiDictProxy(changed)
        return WholeRequest(connection, method, target, headers, body)

    def keep(self, data: bytes, headers: Headers) -> None:
        """Keep the lines of an accepted request, if it is a whole one. Those that change the protocol, frame the body
        in another way, or wait before they send it are left to the parser."""
        if TRANSFER_ENCODING not in headers and EXPECT not in headers and UPGRADE not in headers:
            self._native.keep(data, headers)


class WholeBody:
    """A body that has arrived, as far as handlers ask a stream of aiohttp."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    def is_eof(self) -> bool:
        """Report that nothing more arrives."""
        return True

    def read_nowait(self) -> bytes:
        """Return what is not read yet."""
        data, self._data = self._data, b""
        return data

    async def iter_any(self) -> AsyncIterator[bytes]:
        """Yield what is not read yet."""
        if self._data:
            yield self.read_nowait()


class WholeRequest:
    """A request that has arrived, as far as the chain asks one of aiohttp."""

    __slots__ = ("can_read_body", "content", "headers", "method", "protocol", "raw_path")
    version: HttpVersion = HttpVersion11

    def __init__(self, protocol: Any, method: str, target: str, headers: Headers, body: bytes) -> None:
        self.protocol = protocol
        """The connection."""
        self.method = method
        self.raw_path = target
        self.headers = headers
        self.content = WholeBody(body)
        self.can_read_body = bool(body)

    @property
    def transport(self) -> asyncio.Transport | None:
        """Return the transport; None once the client has disconnected."""
        found: asyncio.Transport | None = self.protocol.transport
        return found

    @property
    def content_length(self) -> int | None:
        """Return the length of the body, as it was announced."""
        length = self.headers.get(CONTENT_LENGTH)
        return None if length is None else int(length)
