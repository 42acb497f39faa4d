"""Client connections: heads and their limits, and requests that are refused before the chain.

Beside `endpoints/wire.py`, this is the module that uses private names of aiohttp.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, cast

from aiohttp import web
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError
from aiohttp.http_parser import RawRequestMessage
from aiohttp.http_writer import HttpVersion11
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import _ErrInfo

from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import MemoDraft
from hydrofoil.endpoints.descriptors import warn_of_descriptors
from hydrofoil.endpoints.eager import EagerTask
from hydrofoil.endpoints.framing import continues, origin_form, plain_refusal, refusal
from hydrofoil.endpoints.known_heads import KnownHeads
from hydrofoil.endpoints.memos import Memos
from hydrofoil.endpoints.origin import CONTROLS, FORBIDDEN, foreign
from hydrofoil.endpoints.wire import CLOSED, KEPT, Done, Wire, cut
from hydrofoil.errors import FAULTS, ApiError, method_not_allowed
from hydrofoil.headers import EXPECT
from hydrofoil.pace.reads import ReadQueue
from hydrofoil.pace.turn import current_turn

LOG = logging.getLogger("hydrofoil")
HEAD = (1 << 20) + 4096
"""The bytes of a request line with its headers (net/http `DefaultMaxHeaderBytes`, and its margin)."""
METHOD = re.compile(r"b[\"'][!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP/1\.[01]")
"""The request line of an unknown method, as the parser's error quotes it."""
KNOWN = frozenset((b"GET", b"POS", b"PUT", b"PAT", b"DEL", b"HEA", b"OPT"))
"""The beginnings of methods that requests of clients have."""
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+(?= )")
"""A method that is followed by a target."""
UNANSWERED = "SEARCH"
"""A method of the parser that no resource answers to: the parser reads it in place of one that it does not know."""
PRIVATES = (
    "_buffer_paused",
    "_drain_helper",
    "_handle_request",
    "_keepalive_handle",
    "_keepalive_timeout",
    "_lingering_time",
    "_loop",
    "_make_error_handler",
    "_messages",
    "_next_keepalive_close_time",
    "_payload_parser",
    "_process_keepalive",
    "_reading_paused",
    "_request_handler",
    "_upgraded",
    "_waiter",
)
"""The private names of `web.RequestHandler` that this module uses; a test checks each."""
REQUEST_PRIVATES = ("_message", "_version")
"""The same of requests."""
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
SLOW = 16 * 1024
"""The size of an incomplete head from which the parser gets it in pieces of growing size, as it copies them."""
BEHIND = 64 * 1024
"""The bytes behind a request that waits from which on no more are read."""
LINGER_SECONDS = 0.25
"""The time in which the rest of a head that is too large may arrive (net/http `rstAvoidanceDelay`)."""
received = web.RequestHandler.data_received


class Refused(HttpProcessingError):
    """A request that the parser accepts and this server rejects."""


class Connection(web.RequestHandler):
    """Answer malformed requests with a plain 400 and unknown methods with a Status 405; then close."""

    __slots__ = (
        "_behind",
        "_body",
        "_due",
        "_edge",
        "_held",
        "_method",
        "_size",
        "_waits",
        "_whole",
        "_wire",
        "accepted_hosts",
        "address",
        "answer",
        "answer_timeout",
        "certificates",
        "expected",
        "head_limit",
        "header_timeout",
        "identity",
        "known_heads",
        "memo",
        "memos",
        "own_host",
        "reads",
    )
    address: str
    """The address of the client; empty without one."""
    certificates: Sequence[bytes]
    """The certificates that the client presented, in DER."""
    expected: str | None
    """The header Expect of the present request, which is looked up once: nearly all have none."""
    header_timeout: float
    """The time limit of a head, in seconds."""
    head_limit: int
    """The largest head, in bytes."""
    accepted_hosts: tuple[str, ...]
    """The patterns of further names that the server may be called by there, and of hosts whose pages may call it."""
    own_host: str
    """The address to which the requests of web pages are refused; empty: no address."""
    reads: ReadQueue
    """The share of the loop for input."""
    answer_timeout: float
    """The time limit for reading an answer, in seconds."""
    answer: Wire
    """What answers requests."""
    known_heads: KnownHeads | None
    """The heads of all clients; None if each is parsed (`--request-memos`), or heads have a smaller limit."""
    memos: Memos | None
    """What was decided about requests like one before; None without."""
    memo: MemoDraft | None
    """The begin of a memo of the present request."""
    identity: int
    """The number of the client, by its certificates; 0: none, its requests have no memos."""
    _wire: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timeout of the first head; each further one has the idle time since the last answer."""
        # From Python 3.12 on, `start` runs to its first wait within the call of the base.
        self._wire = cast(asyncio.Transport, transport)
        self._body: StreamReader = EMPTY_PAYLOAD
        self._size = 0
        self._held = bytearray()
        self._edge = b""
        self._method = ""
        self._due: asyncio.TimerHandle | None = None
        self._whole: bytes | None = None
        """The input whose head may become known, once it is accepted."""
        self._waits: EagerTask[Done] | None = None
        """The request with a known head that waits; what arrives behind it is kept in `_behind`."""
        self._behind = bytearray()
        self.certificates = transport.get_extra_info("peer_certificates") or ()
        peer = transport.get_extra_info("peername") or ""
        self.address = str(peer[0] if isinstance(peer, list | tuple) else peer)
        self.memo = None
        memory = transport.get_extra_info("hydrofoil.memory")
        # Requests of the server itself have rights of their own.
        self.identity = 0 if memory or self.memos is None else self.memos.identify(self.certificates)
        if memory:
            # No web page reaches it.
            self.own_host = ""
        elif (used := transport.get_extra_info("socket")) is not None:
            warn_of_descriptors(used.fileno())
        super().connection_made(transport)
        if self._keepalive_handle is not None:
            self._keepalive_handle.cancel()
        due = self._next_keepalive_close_time = self._loop.time() + self.header_timeout
        self._keepalive_handle = self._loop.call_at(due, self._process_keepalive)

    def connection_lost(self, exc: BaseException | None) -> None:
        """End the timeout of a head."""
        if self._due is not None:
            self._due.cancel()
        if self._waits is not None:
            self._waits.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse input; a head has limits of time and size."""
        reads = self.reads
        reads.unasked -= 1
        if reads.unasked < 0 and data and not reads.take():
            # Input that is read later waits behind this.
            self._wire.pause_reading()
            reads.defer(partial(self._resume, data))
            return
        if self._size < 0:
            return
        if self._waits is not None:
            self._keep_behind(data)
            return
        waiter = self._waiter
        # Nothing precedes this input: neither a request nor a part of one.
        if waiter is not None and not self._size and not waiter.done() and self._answer_known(data):
            return
        if not data or self._upgraded or self._payload_parser is not None or not self._body.is_eof():
            self._parse(data)
        elif self._size or not self._parse(data if data[:3] in KNOWN else self._readable(data)):
            self._head(data)

    def _answer_known(self, data: bytes) -> bool:
        """Answer a whole request whose head is known, without the parser; report whether it is one."""
        heads, memos = self.known_heads, self.memos
        if heads is None:
            return False
        answer = request = None
        try:
            # A client that does not read, and requests that wait for a turn, are left to the chain.
            if self.identity and memos is not None and not self.answer.waiting and not self.writing_paused:
                answer = memos.answer(self.identity, data)
            if not answer:
                request = heads.request(self, data)
        except FAULTS:
            # The parser reads what cannot be looked up.
            LOG.exception("a head was not looked up")
            return False
        if answer:
            self._wire.write(answer)
            self._continue(KEPT)
            return True
        if request is None:
            self._whole = data
            return False
        if answer is None and self.identity and memos is not None:
            self.memo = memos.begin(self.identity, data)
        self.expected = None
        task = EagerTask(self.answer(cast(web.BaseRequest, request)), self._loop)
        try:
            done = task.run(self._end_wait)
        except FAULTS as e:
            self._fail(e)
            return True
        if done is None:
            self._waits = task
        else:
            self._continue(done)
        return True

    def _end_wait(self, task: asyncio.Task[Done]) -> None:
        """Continue behind a request that had to wait."""
        self._waits = None
        if task.cancelled():
            self.force_close()
        elif (fault := task.exception()) is not None:
            self._fail(fault)
        else:
            self._continue(task.result())
            data, self._behind = bytes(self._behind), bytearray()
            if data and self.transport is not None:
                self._resume(data)

    def _fail(self, fault: BaseException) -> None:
        """End the connection of a request that failed outside of the chain."""
        if not isinstance(fault, ConnectionError):
            LOG.error("connection failed", exc_info=fault)
            self._wire.abort()
        self.force_close()

    def _continue(self, done: Done) -> None:
        """Wait for the next request as aiohttp does after an answer, or end the connection."""
        if done.keep_alive:
            self._next_keepalive_close_time = self._loop.time() + self._keepalive_timeout
        else:
            self.force_close()

    def _keep_behind(self, data: bytes) -> None:
        """Keep input for when the present request is answered."""
        self._behind += data
        if len(self._behind) > BEHIND:
            self._wire.pause_reading()

    def _resume(self, data: bytes) -> None:
        """Parse input that had to wait for its turn, and read again."""
        if self.transport is None:
            return
        # Where aiohttp has paused, because of a full body, it resumes by itself.
        if not (self._reading_paused or self._buffer_paused):
            self._wire.resume_reading()
        self.data_received(data)

    def _readable(self, data: bytes) -> bytes:
        """Return the beginning of a head with a method that the parser reads; its own method is kept for the request.

        A user is known, and rights are decided, before an unknown method is refused as in net/http.
        """
        found = TOKEN.match(data)
        if found is None:
            return data
        self._method = found[0].decode()
        return UNANSWERED.encode() + data[found.end() :]

    def _parse(self, data: bytes) -> bool:
        """Return whether the parser has found requests."""
        messages = self._messages
        known = len(messages)
        received(self, data)
        if len(messages) == known:
            return False
        if self._method:
            message, body = messages[known]
            if isinstance(message, RawRequestMessage) and message.method == UNANSWERED:
                messages[known] = message._replace(method=self._method), body
            self._method = ""
        self._body = messages[-1][1]
        if self._due is not None:
            self._due.cancel()
            self._due = None
            self._size = 0
            self._held.clear()
        return True

    def _head(self, data: bytes) -> None:
        """Parse more of a head that did not arrive at once, of which the first piece was parsed."""
        before = self._size
        self._size += len(data)
        if self._due is None:
            self._due = self._loop.call_later(self.header_timeout, self._late)
            self._edge = data[-3:]
            return
        seen = self._edge + data
        end = seen.find(b"\r\n\r\n")
        if (before + end + 1 if end >= 0 else self._size) > self.head_limit:
            self._size = -1
            self._held.clear()
            # A connection that is closed with unread input discards its answer: wait for input on its way.
            self._due.cancel()
            self._due = self._loop.call_later(LINGER_SECONDS, self._too_large)
            return
        self._edge = seen[-3:]
        self._held += data
        if end >= 0 or self._size <= SLOW or 2 * len(self._held) > self._size:
            data = bytes(self._held)
            self._held.clear()
            self._parse(data)

    def _late(self) -> None:
        """End a connection whose head is not complete in time."""
        if self._waiter is not None and not self._waiter.done():
            self.force_close()
        else:
            # An earlier request is being answered.
            self._due = self._loop.call_later(self.header_timeout, self._late)

    def send_continue(self) -> None:
        """Ask the client for the body that it announced."""
        self._wire.write(CONTINUE)

    def _too_large(self) -> None:
        """Answer the head that is too large, after the requests before it."""
        text = "431 Request Header Fields Too Large"
        error = _ErrInfo(status=431, exc=Refused(code=431, message=text), message=text)
        self._messages.append((error, EMPTY_PAYLOAD))
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def start(self) -> None:
        """Answer requests until the connection ends; unread input does not keep it open."""
        wire = self._wire
        try:
            await super().start()
        except FAULTS:
            # A client that waits for an answer learns that there will be none.
            LOG.exception("connection failed")
            wire.abort()
        finally:
            if wire.is_closing() and wire.get_write_buffer_size():
                self._loop.call_later(self.answer_timeout, cut, wire)

    def _process_keepalive(self) -> None:
        """End an idle connection; at once if its last answer was not read."""
        if self._waits is not None:
            # It is none for aiohttp, which does not know of the request.
            self._next_keepalive_close_time = self._loop.time() + self._keepalive_timeout
        super()._process_keepalive()
        wire = self._wire
        if wire.is_closing() and wire.get_write_buffer_size():
            cut(wire)

    def _handle_request(
        self, request: web.BaseRequest, start_time: float | None, request_handler: Any
    ) -> Coroutine[Any, Any, tuple[web.StreamResponse, bool]]:
        """Check an accepted request before it is answered."""
        message = request._message
        found = refusal(message)
        self.expected = expected = message.headers.get(EXPECT)
        if expected and found is None and not continues(expected):
            found = 417, ""
        if found is None and self.own_host and foreign(message.headers, self.own_host, self.accepted_hosts):
            found = 403, FORBIDDEN
        if found is not None:
            status, text = found
            exc = Refused(code=status, message=text)
            request_handler = self._make_error_handler(_ErrInfo(status=status, exc=exc, message=text))
            # The end of its body is unknown.
            self._lingering_time = 0.0
        else:
            if message.path[:1] != "/":
                request._message = message._replace(path=origin_form(message.path))
            whole, heads = self._whole, self.known_heads
            # For input that the parser rejects, aiohttp answers an empty request by another handler.
            if whole is not None and heads is not None and request_handler is self._request_handler:
                heads.keep(whole, message.headers)
        self._whole = None
        return super()._handle_request(request, start_time, request_handler)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Write the answers that aiohttp makes itself; all others are written."""
        if isinstance(resp, Done) and not self._upgraded:
            return resp, False
        return await super().finish_response(request, resp, start_time)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> Any:
        """Return the answer for a request that the parser rejected, or whose handler failed outside of the chain."""
        gone = isinstance(exc, ConnectionError) and self._wire.is_closing()
        if not gone and not isinstance(exc, HttpProcessingError):
            LOG.error("connection failed", exc_info=exc)
        if status == 417:
            minor = 1 if request.version >= HttpVersion11 else 0
            self._wire.write(
                b"HTTP/1.%d 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n" % minor
            )
            return CLOSED
        # The version in a malformed request may be part of the error.
        request._version = HttpVersion11
        answer: web.StreamResponse
        if isinstance(exc, BadHttpMethod) and METHOD.search(message or ""):
            error = method_not_allowed()
            answer = web.Response(status=error.code, body=respond.status_body(error), content_type="application/json")
        elif isinstance(exc, Refused) and message == FORBIDDEN and request.path.startswith(CONTROLS):
            denied = ApiError(status, "Forbidden", FORBIDDEN.partition(": ")[2], {})
            answer = web.Response(status=status, body=respond.status_body(denied), content_type="application/json")
        else:
            if isinstance(exc, Refused):
                text = message or ""
            elif message is not None and "Missing 'Host' header" in message:
                text = "400 Bad Request: missing required Host header"
            else:
                text = f"{status} {HTTPStatus(status).phrase}"
            self._wire.write(plain_refusal(status, text))
            return CLOSED
        answer.force_close()
        return answer


class Connections(web.Server):
    """Make a `Connection` for every client."""

    def __init__(
        self,
        wire: Wire,
        *,
        header_timeout: float,
        answer_timeout: float,
        head_limit: int = HEAD,
        own_host: str = "",
        accepted_hosts: tuple[str, ...] = (),
        memos: bool = True,
        **settings: Any,
    ) -> None:
        # The result has all that aiohttp reads of a response.
        answered = cast(Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], wire)
        # The limit of the whole head is the limit of each of its lines.
        super().__init__(answered, access_log=None, max_line_size=head_limit, max_field_size=head_limit, **settings)
        self.header_timeout = header_timeout
        self.answer_timeout = answer_timeout
        self.head_limit = head_limit
        self.own_host = own_host
        self.accepted_hosts = accepted_hosts
        self._wire = wire
        self._known_heads = KnownHeads() if memos and head_limit >= HEAD else None
        self._memos = None if self._known_heads is None else wire.memos
        self._reads = current_turn().reads

    def __call__(self) -> web.RequestHandler:
        connection = Connection(self, loop=self._loop, **self._kwargs)
        connection.header_timeout = self.header_timeout
        connection.answer_timeout = self.answer_timeout
        connection.head_limit = self.head_limit
        connection.own_host = self.own_host
        connection.accepted_hosts = self.accepted_hosts
        connection.reads = self._reads
        connection.answer = self._wire
        connection.known_heads = self._known_heads
        connection.memos = self._memos
        return connection
