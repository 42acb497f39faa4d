"""Client connections by aiohttp's public names: for a version of it that lacks the private ones of `connection.py`.

Answers to requests are the same, as the chain and the wire are. What differs is what happens before the chain: each
request is parsed, malformed ones get aiohttp's own answers, and a head is bounded by its lines alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import Any, cast

from aiohttp import web

from hydrofoil.endpoints.context import MemoDraft
from hydrofoil.endpoints.origin import FORBIDDEN, foreign
from hydrofoil.endpoints.wire import Wire
from hydrofoil.headers import EXPECT

LOG = logging.getLogger("hydrofoil")
PARSED_HEAD = 1 << 20
"""The longest line of a head, in bytes."""


class PlainConnection(web.RequestHandler):
    """A connection that knows its client, and when the client is behind."""

    __slots__ = ("_ready", "_slow", "address", "certificates", "expected", "memo")
    address: str
    """The address of the client; empty without one."""
    certificates: Sequence[bytes]
    """The certificates that the client presented, in DER."""
    expected: str | None
    """None: aiohttp asks for the bodies of clients that wait for it."""
    memo: MemoDraft | None
    """None: each request passes the chain."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the facts of the connection."""
        self._slow = False
        self._ready = asyncio.Event()
        self.expected = self.memo = None
        self.certificates = transport.get_extra_info("peer_certificates") or ()
        peer = transport.get_extra_info("peername") or ""
        self.address = str(peer[0] if isinstance(peer, list | tuple) else peer)
        super().connection_made(transport)

    def pause_writing(self) -> None:
        """Note that the client is behind."""
        self._slow = True
        self._ready.clear()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that the client has read."""
        self._slow = False
        self._ready.set()
        super().resume_writing()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Let go of what waits for the client."""
        self._ready.set()
        super().connection_lost(exc)

    @property
    def writing_paused(self) -> bool:
        """Report whether the client is behind."""
        return self._slow

    async def _drain_helper(self) -> None:
        """Wait until the client has read. Raise ConnectionError when it has disconnected."""
        if self._slow:
            await self._ready.wait()
        if self.transport is None:
            raise ConnectionResetError("Cannot write to closing transport")


class PlainConnections(web.Server):
    """Make a `PlainConnection` for every client."""

    def __init__(
        self, wire: Wire, *, own_host: str = "", accepted_hosts: tuple[str, ...] = (), keepalive_timeout: float
    ) -> None:
        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            transport = request.transport
            # No web page reaches a connection in memory.
            near = transport is None or transport.get_extra_info("hydrofoil.memory")
            if own_host and not near and foreign(request.headers, own_host, accepted_hosts):
                refused = web.Response(status=403, text=FORBIDDEN)
                refused.force_close()
                return refused
            if EXPECT in request.headers and request.can_read_body and transport is not None:
                transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            # The result has all that aiohttp reads of a response.
            return cast(web.StreamResponse, await wire(request))

        handler = cast(Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], answer)
        super().__init__(
            handler,
            access_log=None,
            handler_cancellation=True,
            keepalive_timeout=keepalive_timeout,
            max_line_size=PARSED_HEAD,
            max_field_size=PARSED_HEAD,
            auto_decompress=False,
        )

    def __call__(self) -> web.RequestHandler:
        return PlainConnection(self, loop=asyncio.get_running_loop(), **self._kwargs)


def missing_names() -> list[str]:
    """Return the names of aiohttp that `connection.py` uses and the installed version lacks."""
    try:
        names: Any = import_module("hydrofoil.endpoints.connection")
    except ImportError as e:
        return [e.name or str(e)]
    return [name for name in names.PRIVATES if not hasattr(web.RequestHandler, name)]


def warn_of_missing(names: list[str]) -> None:
    """Say that requests take the slower way, and why."""
    from importlib.metadata import version

    text = "aiohttp %s has no %s, which the fast way of requests needs: they take the public one, which is slower"
    LOG.warning(text, version("aiohttp"), ", ".join(names))
