"""A client session of aiohttp in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.tracing import Trace

Connect = Callable[[asyncio.BaseProtocol], asyncio.Transport]


class MemoryConnector(aiohttp.BaseConnector):
    """Connections to one server of the same loop, whatever the address of a request is."""

    def __init__(self, connect: Connect) -> None:
        super().__init__(limit=0)
        self._connect = connect

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> ResponseHandler:
        protocol = self._factory()
        self._connect(protocol)
        return protocol


def session(connect: Connect, url: str, headers: dict[str, str], settings: dict[str, Any]) -> aiohttp.ClientSession:
    """Return a session of the administrator; settings are those of `ClientSession`."""
    # In memory there is no TLS, whatever the server does on its port.
    base = url.replace("https://", "http://", 1)
    given = {"base_url": f"{base}/", **settings}
    given["headers"] = {**headers, **dict(settings.get("headers") or {})}
    return aiohttp.ClientSession(connector=MemoryConnector(connect), **given)
