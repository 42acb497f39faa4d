"""One client connection: aiohttp's, with the answers of Go's server to what is no request."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

from aiohttp import web
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError
from aiohttp.http_writer import HttpVersion11
from aiohttp.web_protocol import _ErrInfo

from hydrofoil.endpoints import respond
from hydrofoil.errors import FAULTS, method_not_allowed
from hydrofoil.server.framing import origin_form, refusal

LOG = logging.getLogger("hydrofoil")
METHOD = re.compile(r"b[\"'][!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP/1\.[01]")
"""The request line of a token that is no known method, as the parser's error quotes it."""


Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Refused(HttpProcessingError):
    """A request that the parser took and this server does not."""


class Connection(web.RequestHandler):
    """Answers malformed requests with a plain 400 and unknown methods with a Status of 405; then it closes."""

    __slots__ = ("_wire", "answer_timeout", "header_timeout")
    header_timeout: float
    """How long the first head may take, in seconds."""
    answer_timeout: float
    """How long a client may take to read an answer, in seconds."""
    _wire: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The first head has a time of its own; each further one has the idle time, from the last answer on."""
        super().connection_made(transport)
        self._wire = cast(asyncio.Transport, transport)
        if self._keepalive_handle is not None:
            self._keepalive_handle.cancel()
        due = self._next_keepalive_close_time = self._loop.time() + self.header_timeout
        self._keepalive_handle = self._loop.call_at(due, self._process_keepalive)

    async def start(self) -> None:
        """Answers requests until the connection ends; what nobody reads then does not keep it open."""
        wire = self._wire
        try:
            await super().start()
        except FAULTS:
            # A client that waits for an answer learns that there will be none.
            LOG.exception("connection failed")
            wire.abort()
        finally:
            if wire.is_closing() and wire.get_write_buffer_size():
                self._loop.call_later(self.answer_timeout, respond.cut, wire)

    def _process_keepalive(self) -> None:
        """Ends a connection that asks for nothing; one that has not read its last answer ends at once."""
        super()._process_keepalive()
        wire = self._wire
        if wire.is_closing() and wire.get_write_buffer_size():
            respond.cut(wire)

    def _handle_request(
        self, request: web.BaseRequest, start_time: float | None, request_handler: Handler
    ) -> Coroutine[Any, Any, tuple[web.StreamResponse, bool]]:
        """Looks at what the parser took before anybody answers it."""
        message = request._message
        if (found := refusal(message)) is not None:
            status, text = found
            exc = Refused(code=status, message=text)
            request_handler = self._make_error_handler(_ErrInfo(status=status, exc=exc, message=text))
            # Nobody knows where its body ends.
            self._lingering_time = 0.0
        elif message.path[:1] != "/":
            request._message = message._replace(path=origin_form(message.path))
        return super()._handle_request(request, start_time, request_handler)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to a request that the parser refused, or whose handler failed outside of the app."""
        if not isinstance(exc, HttpProcessingError):
            LOG.error("connection failed", exc_info=exc)
        # What the request said of its version may be a part of what is wrong.
        request._version = HttpVersion11
        answer: web.StreamResponse
        if isinstance(exc, BadHttpMethod) and METHOD.search(message or ""):
            error = method_not_allowed()
            answer = web.Response(status=error.code, body=respond.status_body(error), content_type="application/json")
        elif isinstance(exc, Refused):
            answer = web.Response(status=status, text=message)
        elif message is not None and "Missing 'Host' header" in message:
            answer = web.Response(status=status, text="400 Bad Request: missing required Host header")
        else:
            known = web.Response(status=status)
            answer = web.Response(status=status, text=f"{status} {known.reason}")
        answer.force_close()
        return answer


class Connections(web.Server):
    """Makes a `Connection` for every client."""

    def __init__(self, *args: Any, header_timeout: float, answer_timeout: float, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.header_timeout = header_timeout
        self.answer_timeout = answer_timeout

    def __call__(self) -> web.RequestHandler:
        connection = Connection(self, loop=self._loop, **self._kwargs)
        connection.header_timeout = self.header_timeout
        connection.answer_timeout = self.answer_timeout
        return connection
