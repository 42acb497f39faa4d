"""Connections to one other server: opened on first use, closed after the last call."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import aiohttp

from hydrofoil.outbound import client
from hydrofoil.outbound.trust import Trust

OWN_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""Headers that aiohttp adds, and that a request passed on has or does not have."""
CLOSING: set[asyncio.Task[None]] = set()
"""Tasks that close sessions: a loop keeps no strong reference to them."""


class Connections:
    """A session with one server.

    `unpack`: decompress bodies, for responses that are read here rather than passed on.
    """

    def __init__(self, trust: Trust, *, unpack: bool) -> None:
        self.trust = trust
        self._unpack = unpack
        self._session: aiohttp.ClientSession | None = None
        self._calls = 0
        self._retired = False

    async def session(self) -> aiohttp.ClientSession:
        """Return the session. Raise Unreachable."""
        await client.ready()
        if self._session is None:
            context = await asyncio.to_thread(self.trust.context)
            if self._session is None:
                self._session = aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(ssl=context, limit=0),
                    auto_decompress=self._unpack,
                    timeout=aiohttp.ClientTimeout(total=None),
                    skip_auto_headers=() if self._unpack else OWN_HEADERS,
                    cookie_jar=aiohttp.DummyCookieJar(),
                )
        return self._session

    @contextlib.asynccontextmanager
    async def call(self) -> AsyncIterator[aiohttp.ClientSession]:
        """Hold the session open for one call. Raise Unreachable."""
        self._calls += 1
        try:
            yield await self.session()
        finally:
            self._calls -= 1
            if self._retired and not self._calls:
                await self.close()

    def retire(self) -> None:
        """Close once the calls in flight have ended; requests that began with it finish on it."""
        self._retired = True
        if not self._calls and self._session is not None:
            task = asyncio.ensure_future(self.close())
            CLOSING.add(task)
            task.add_done_callback(CLOSING.discard)

    async def close(self) -> None:
        """Close now."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
