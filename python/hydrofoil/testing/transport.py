"""A transport of httpx in memory."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx

Connect = Callable[[asyncio.BaseProtocol], asyncio.Transport]


@contextmanager
def own_errors() -> Iterator[None]:
    """Raise the errors of httpx for those of httpcore, which have the same names."""
    try:
        yield
    except Exception as e:
        kind = getattr(httpx, type(e).__name__, None) if type(e).__module__.startswith("httpcore") else None
        if kind is None:
            raise
        raise kind(str(e)) from e


class Stream(httpcore.AsyncNetworkStream):
    """One connection."""

    def __init__(self, connect: Connect) -> None:
        self._reader = asyncio.StreamReader()
        self._pipe = connect(asyncio.StreamReaderProtocol(self._reader))

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return bytes; empty at the end. Raise ReadTimeout."""
        try:
            async with asyncio.timeout(timeout):
                return await self._reader.read(max_bytes)
        except TimeoutError:
            raise httpcore.ReadTimeout from None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes. Raise WriteError."""
        if self._pipe.is_closing():
            raise httpcore.WriteError("the server has closed the connection")
        self._pipe.write(buffer)

    async def aclose(self) -> None:
        """Close the connection."""
        self._pipe.close()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> Stream:
        """Return the same: nothing is encrypted in memory."""
        return self

    def get_extra_info(self, info: str) -> Any:
        """Return whether there is something to read; nothing else is known."""
        return self._reader.at_eof() if info == "is_readable" else None


class Backend(httpcore.AsyncNetworkBackend):
    """Connections to one server, whatever the address is."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Stream:
        """Return a connection."""
        return Stream(self._connect)

    async def sleep(self, seconds: float) -> None:
        """Wait before another attempt."""
        await asyncio.sleep(seconds)


class Body(httpx.AsyncByteStream):
    """The body of an answer."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with own_errors():
            async for part in self._response.aiter_stream():
                yield part

    async def aclose(self) -> None:
        """Give the connection back."""
        await self._response.aclose()


class MemoryTransport(httpx.AsyncBaseTransport):
    """Requests to one server of the same loop; those without an address, too."""

    def __init__(self, connect: Connect, url: str) -> None:
        self._pool = httpcore.AsyncConnectionPool(network_backend=Backend(connect))
        self._url = httpx.URL(url)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; return its answer."""
        if not request.url.host:
            request.url = self._url.join(request.url)
            request.headers["Host"] = self._url.netloc.decode()
        target, headers = request.url, request.headers.raw
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=b"http", host=target.raw_host, port=target.port, target=target.raw_path),
            headers=headers,
            content=request.stream,
            extensions=request.extensions,
        )
        with own_errors():
            response = await self._pool.handle_async_request(sent)
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=Body(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()
