"""Connections upgraded on the way to a service (apimachinery `pkg/util/proxy/upgradeaware.go`)."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

from yarl import URL

from hydrofoil.answer import Answer, Line, plain
from hydrofoil.errors import timed_out
from hydrofoil.outbound.trust import reason
from hydrofoil.request import Incoming

DIAL_SECONDS = 30.0
"""The time limit of a connection (Go's `net/http.DefaultTransport`)."""
HANDSHAKE_SECONDS = 10.0
ECHO_SECONDS = 10.0
"""The time limit of a response other than an upgrade, and of a connection after its client has disconnected."""
PIECE = 64 * 1024
HELD = 256 * 1024
"""Reading from the client pauses while this many bytes wait for the service."""


class Pipe:
    """The client's input, on its way to a service. It has the interface of aiohttp's payload parsers."""

    def __init__(self, line: Line, writer: asyncio.StreamWriter) -> None:
        self._line = line
        self._writer = writer
        self._drain: asyncio.Task[None] | None = None

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Pass bytes on."""
        self._writer.write(data)
        if self._writer.transport.get_write_buffer_size() > HELD and self._drain is None:
            self._line.hold(on=True)
            self._drain = asyncio.create_task(self._drained())
        return False, b""

    async def _drained(self) -> None:
        try:
            await self._writer.drain()
        except OSError:
            return
        finally:
            self._drain = None
        self._line.hold(on=False)

    def feed_eof(self) -> None:
        """Take the end of the client's input: its last bytes are still sent, if the service takes them."""
        self._writer.close()
        asyncio.get_running_loop().call_later(ECHO_SECONDS, self._writer.transport.abort)


def bad_gateway(text: str) -> Answer:
    """Return 503 in plain text."""
    answer = plain(503, text + "\n")
    answer.close = True
    return answer


async def dial(
    url: URL, context: ssl.SSLContext | None, name: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | str:
    """Return a connection to a service, or the reason for its failure; without `context` it is not encrypted."""
    where = f"{url.host}:{url.port}"
    try:
        async with asyncio.timeout(DIAL_SECONDS):
            return await asyncio.open_connection(
                url.host,
                url.port,
                ssl=context,
                server_hostname=None if context is None else name,
                ssl_handshake_timeout=None if context is None else HANDSHAKE_SECONDS,
            )
    except TimeoutError:
        return f"dial tcp {where}: i/o timeout"
    except ConnectionAbortedError:
        # The library's report of a handshake timeout.
        return "net/http: TLS handshake timeout"
    except OSError as e:
        return reason(e, where)


def left_of(head: bytes) -> int | None:
    """Return the number of bytes after the head of a response; None if the head does not have it."""
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.lower() == b"content-length" and value.strip().isdigit():
            return int(value)
    return None


async def relay_rest(line: Line, reader: asyncio.StreamReader, left: int | None) -> None:
    """Pass on the rest of a response other than an upgrade; one without a length lasts to its end."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(ECHO_SECONDS):
            while left != 0 and (data := await reader.read(PIECE if left is None else min(PIECE, left))):
                line.write(data)
                left = None if left is None else left - len(data)
                await line.drained()


async def relay_upgrade(
    request: Incoming, url: URL, headers: list[tuple[str, str]], tls: ssl.SSLContext | None, name: str
) -> Answer:
    """Pass a request on with its connection: bytes of either side are sent to the other until one ends.

    Raise ApiError if the service does not respond in time.
    """
    connection = await dial(url, tls, name)
    if isinstance(connection, str):
        return bad_gateway(f"error dialing backend: {connection}")
    reader, writer = connection
    # However the request ends, its connection to the service ends with it.
    request.at_end(lambda _: writer.close())
    lines = "".join(f"{k}: {v}\r\n" for k, v in headers)
    writer.write(f"{request.method} {url.raw_path_qs} HTTP/1.1\r\n{lines}\r\n".encode())
    try:
        async with asyncio.timeout(request.request_timeout):
            head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
    except TimeoutError:
        raise timed_out() from None
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError, IndexError):
        return bad_gateway("unexpected EOF")
    if status != 101 and status < 400:
        return bad_gateway(f"invalid upgrade response: status code {status}")

    request.lasts()
    return Answer(status, b"", stream=Tunnel(status, head, reader, writer), takes_over=True)


class Tunnel:
    """A connection to a service, whose head was read: bytes of either side are sent to the other until one ends."""

    def __init__(self, status: int, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._status = status
        self._head = head
        self._reader = reader
        self._writer = writer

    async def write(self, line: Line) -> None:
        """Write the head and all further bytes; a refusal is passed on as it is."""
        line.write(self._head)
        with contextlib.suppress(OSError):
            if self._status != 101:
                await relay_rest(line, self._reader, left_of(self._head))
                return
            line.receive(Pipe(line, self._writer))
            while data := await self._reader.read(PIECE):
                line.write(data)
                await line.drained()
