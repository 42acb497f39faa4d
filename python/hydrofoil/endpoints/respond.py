"""Answers, written to the transport in as few pieces as they have."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
import time
import zlib
from email.utils import formatdate
from http import HTTPStatus

import orjson
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from hydrofoil import engine
from hydrofoil.endpoints.negotiate import PLAIN, Accepted
from hydrofoil.endpoints.params import parse
from hydrofoil.errors import FAULTS, ApiError

LOG = logging.getLogger("hydrofoil")
GZIP_ABOVE = 131_072
"""Bodies above this many bytes are compressed for who accepts gzip (CP-01)."""
GZIPPED = b"Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"
RESET = struct.pack("ii", 1, 0)
"""`SO_LINGER` of a connection that is reset when it is closed."""
PLAIN_ONLY = web.RequestKey("plain", bool)
"""Stands in a request whose answer is not compressed, whatever its client accepts (CP-02)."""
PIECE = 128 * 1024
"""Large bodies are written in pieces of about this size, each after the last was taken."""

_LINES = {s.value: f"HTTP/1.1 {s.value} {s.phrase}\r\n".encode() for s in HTTPStatus}


class _Clock:
    """The Date header, made once a second."""

    def __init__(self) -> None:
        self._second = 0
        self._line = b""

    def line(self) -> bytes:
        now = int(time.time())
        if now != self._second:
            self._second = now
            self._line = f"Date: {formatdate(now, usegmt=True)}\r\n".encode()
        return self._line


CLOCK = _Clock()


def closes(request: web.BaseRequest) -> bool:
    """Whether the connection ends with this answer: as asked for, or by default in HTTP/1.0."""
    word = request.headers.get("Connection", "").lower()
    return word == "close" or (request.version < (1, 1) and word != "keep-alive")


def patience(request: web.BaseRequest) -> float:
    """How long a client may take to read an answer, in seconds."""
    found: float = getattr(request.protocol, "answer_timeout", 60.0)
    return found


def cut(transport: asyncio.Transport) -> None:
    """Ends a connection at once, and lets go of what its client has not read, here and in the kernel."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        # It may be closed already.
        with contextlib.suppress(OSError, ValueError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    transport.abort()


async def taken(request: web.BaseRequest) -> bool:
    """Waits until a client has read most of what was written; one that takes too long is cut off. Whether it did."""
    protocol, transport = request.protocol, request.transport
    try:
        async with asyncio.timeout(patience(request)):
            await protocol._drain_helper()
    except TimeoutError:
        if transport is not None:
            cut(transport)
        return False
    return True


class Answer(web.StreamResponse):
    """A complete answer: head and body go out in one write, past aiohttp's response machinery."""

    def __init__(self, status: int, body: bytes, head: bytes, *, close: bool = False) -> None:
        super().__init__(status=status)
        self.payload = body
        self._head = head
        self._closes = close

    @property
    def keep_alive(self) -> bool | None:
        return not self._closes

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Writes everything."""
        transport = request.transport
        if transport is None:
            self._closes = True
            return None
        if closes(request):
            self._closes = True
        body = b"" if request.method == "HEAD" else self.payload
        extra = b"Connection: close\r\n" if self._closes else b""
        head = b"%s%s%s%sContent-Length: %d\r\n\r\n" % (
            _LINES.get(self.status) or b"HTTP/1.1 %d \r\n" % self.status,
            self._head,
            CLOCK.line(),
            extra,
            len(self.payload),
        )
        try:
            if len(body) <= PIECE:
                transport.write(head + body)
                if request.protocol.writing_paused and not await taken(request):
                    self._closes = True
                return None
            transport.write(head)
            view = memoryview(body)
            async with asyncio.timeout(patience(request)):
                for at in range(0, len(body), PIECE):
                    transport.write(view[at : at + PIECE])
                    await request.protocol._drain_helper()
        except FAULTS as e:
            # The head has gone out: only a broken connection can tell.
            if not isinstance(e, TimeoutError | ConnectionError):
                LOG.exception("an answer broke off")
            cut(transport)
            self._closes = True
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to write."""


class Streamed(web.StreamResponse):
    """An answer whose body has been written by its maker already."""

    def __init__(self, status: int, *, close: bool) -> None:
        super().__init__(status=status)
        self._closes = close

    @property
    def keep_alive(self) -> bool | None:
        return not self._closes

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Nothing is left to write; the last pieces may have yet to be read."""
        if request.transport is not None and request.protocol.writing_paused and not await taken(request):
            self._closes = True
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to write."""


def header_lines(headers: dict[str, str], warnings: list[str]) -> bytes:
    """Header lines, a Warning line for each warning."""
    lines = [f"{k}: {v}\r\n" for k, v in headers.items()]
    lines += [f"Warning: {w}\r\n" for w in warning_values(warnings)]
    return "".join(lines).encode()


def warning_values(warnings: list[str]) -> list[str]:
    """RFC 9110 warning values, each once (apiserver `filters/warning.go`).

    Once all are over 4096 characters, each is cut to 256, and no more are added to 4096 of what was cut.
    """
    texts = list(dict.fromkeys("".join(c for c in w if c.isprintable()) for w in warnings))
    total = 0
    cut = False
    out: list[str] = []
    for text in texts:
        if cut and total >= 4096:
            break
        out.append(text)
        total += len(text)
        if cut or total > 4096:
            # The one that is too much still comes, as do all before it.
            cut = True
            out = [o[:256] for o in out]
            total = sum(map(len, out))
    return ['299 - "' + o.replace("\\", "\\\\").replace('"', '\\"') + '"' for o in out]


def read_by_people(request: web.BaseRequest, given: str | None, accepted: Accepted) -> bool:
    """Whether a person reads the answer, `given` the parameter `pretty` (curl, Wget and browsers count as persons)."""
    if given is not None:
        return given in ("true", "1")
    return accepted.pretty or request.headers.get("User-Agent", "").startswith(("curl", "Wget", "Mozilla/5.0"))


def wants_gzip(request: web.BaseRequest) -> bool:
    """Whether the client accepts gzip, as upstream reads the header: the bare token."""
    value = request.headers.get("Accept-Encoding")
    return value is not None and "gzip" in [t.strip() for t in value.split(",")] and PLAIN_ONLY not in request


def encode(data: bytes, accepted: Accepted, *, pretty: bool) -> bytes:
    """A JSON body in the negotiated media type."""
    if accepted.yaml:
        return engine.json_to_yaml(data)
    if accepted.cbor:
        return engine.json_to_cbor(data)
    if pretty:
        return engine.pretty(data) + b"\n"
    return data if data.endswith(b"\n") else data + b"\n"


def answer(
    request: web.BaseRequest,
    status: int,
    body: bytes,
    content_type: str,
    common: bytes,
    *,
    close: bool = False,
    packed: bool = False,
) -> Answer:
    """An answer with its head; large bodies are compressed for who accepts it, unless they are `packed` already."""
    head = b"%sContent-Type: %s\r\n" % (common, content_type.encode())
    if packed:
        head += GZIPPED
    elif len(body) > GZIP_ABOVE and wants_gzip(request):
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        body = packer.compress(body) + packer.flush()
        head += GZIPPED
    return Answer(status, body, head, close=close)


def status_body(error: ApiError) -> bytes:
    """The Status of an error as JSON."""
    body = orjson.dumps(error.status())
    # As Go's encoder writes texts.
    return body.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")


def error_answer(request: web.BaseRequest, error: ApiError, accepted: Accepted | None, common: bytes) -> Answer:
    """The one writer of failures: in the negotiated type, indented JSON when negotiation itself failed."""
    body = status_body(error)
    if accepted is None:
        body = engine.pretty(body) + b"\n"
        accepted = PLAIN
    else:
        raw_query = request.raw_path.partition("?")[2]
        given = parse(raw_query).get("pretty") if "pretty" in raw_query else None
        body = encode(body, accepted, pretty=read_by_people(request, given, accepted))
    return answer(request, error.code, body, accepted.media, common + error_headers(error))


def error_headers(error: ApiError) -> bytes:
    """The header lines that go with a failure."""
    lines = b"Retry-After: %d\r\n" % error.retry_after if error.retry_after else b""
    return lines + (b"X-Content-Type-Options: nosniff\r\n" if error.code == 403 else b"")
