"""Connections that change their protocol on the way to a service (apimachinery `pkg/util/proxy/upgradeaware.go`)."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

from yarl import URL

from hydrofoil.answer import TEXT, Answer, Line
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.errors import timed_out
from hydrofoil.registry.backends import reason

DIAL_SECONDS = 30.0
"""How long a connection may take (Go's `net/http.DefaultTransport`)."""
HANDSHAKE_SECONDS = 10.0
ECHO_SECONDS = 10.0
"""How long an answer may take that is no upgrade, and the end of a connection whose client has gone."""
PIECE = 64 * 1024
HELD = 256 * 1024
"""The client is not read from while a service has yet to take more than this many bytes."""


class Pipe:
    """What a client sends from now on, on its way to a service. It has the form of aiohttp's payload parsers."""

    def __init__(self, line: Line, writer: asyncio.StreamWriter) -> None:
        self._line = line
        self._writer = writer
        self._drain: asyncio.Task[None] | None = None

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Passes bytes on."""
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
        """The client has gone: what it sent still goes out, if the service takes it."""
        self._writer.close()
        asyncio.get_running_loop().call_later(ECHO_SECONDS, self._writer.transport.abort)


def failed(context: Context, text: str) -> Answer:
    """503 in plain text."""
    answer = respond.answer(context, 503, text.encode() + b"\n", TEXT, respond.NOSNIFF)
    answer.close = True
    return answer


async def dialled(
    url: URL, context: ssl.SSLContext, name: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | str:
    """A connection to a service, or why there is none."""
    where = f"{url.host}:{url.port}"
    try:
        async with asyncio.timeout(DIAL_SECONDS):
            return await asyncio.open_connection(
                url.host, url.port, ssl=context, server_hostname=name, ssl_handshake_timeout=HANDSHAKE_SECONDS
            )
    except TimeoutError:
        return f"dial tcp {where}: i/o timeout"
    except ConnectionAbortedError:
        # So the library tells that a handshake takes too long.
        return "net/http: TLS handshake timeout"
    except OSError as e:
        return reason(e, where)


def left_of(head: bytes) -> int | None:
    """How many bytes follow the head of an answer; None when it does not say."""
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.lower() == b"content-length" and value.strip().isdigit():
            return int(value)
    return None


async def echoed(line: Line, reader: asyncio.StreamReader, left: int | None) -> None:
    """Pass the rest of an answer on that is no upgrade; one that says nothing of its length lasts to its end."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(ECHO_SECONDS):
            while left != 0 and (data := await reader.read(PIECE if left is None else min(PIECE, left))):
                line.write(data)
                left = None if left is None else left - len(data)
                await line.drained()


async def upgraded(
    context: Context, url: URL, headers: list[tuple[str, str]], tls: ssl.SSLContext, name: str
) -> Answer:
    """Pass a request on with its connection: what either side sends goes to the other until one ends.

    Raises ApiError when the service does not answer in time.
    """
    connection = await dialled(url, tls, name)
    if isinstance(connection, str):
        return failed(context, f"error dialing backend: {connection}")
    reader, writer = connection
    # Whatever becomes of the request, its connection to the service ends with it.
    context.at_end(lambda _: writer.close())
    lines = "".join(f"{k}: {v}\r\n" for k, v in headers)
    writer.write(f"{context.request.method} {url.raw_path_qs} HTTP/1.1\r\n{lines}\r\n".encode())
    try:
        async with asyncio.timeout(context.parts.request_timeout):
            head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
    except TimeoutError:
        raise timed_out() from None
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError, IndexError):
        return failed(context, "unexpected EOF")
    if status != 101 and status < 400:
        return failed(context, f"invalid upgrade response: status code {status}")

    async def stream(line: Line) -> None:
        line.write(head)
        with contextlib.suppress(OSError):
            if status != 101:
                await echoed(line, reader, left_of(head))
                return
            line.receive(Pipe(line, writer))
            while data := await reader.read(PIECE):
                line.write(data)
                await line.drained()

    context.ends = None
    return Answer(status, b"", stream=stream, takes_over=True)
