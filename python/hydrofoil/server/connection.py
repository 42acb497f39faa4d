"""One client connection: aiohttp's, with the answers of Go's server to what is no request."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError

from hydrofoil.endpoints import respond
from hydrofoil.errors import method_not_allowed

LOG = logging.getLogger("hydrofoil")
METHOD = re.compile(r"b[\"'][!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP/1\.[01]")
"""The request line of a token that is no known method, as the parser's error quotes it."""


class Connection(web.RequestHandler):
    """Answers malformed requests with a plain 400 and unknown methods with a Status of 405; then it closes."""

    __slots__ = ("header_timeout",)
    header_timeout: float
    """How long the first head may take, in seconds."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The first head has a time of its own; each further one has the idle time, from the last answer on."""
        super().connection_made(transport)
        if self._keepalive_handle is not None:
            self._keepalive_handle.cancel()
        due = self._next_keepalive_close_time = self._loop.time() + self.header_timeout
        self._keepalive_handle = self._loop.call_at(due, self._process_keepalive)

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
        answer: web.StreamResponse
        if isinstance(exc, BadHttpMethod) and METHOD.search(message or ""):
            error = method_not_allowed()
            answer = web.Response(status=error.code, body=respond.status_body(error), content_type="application/json")
        else:
            known = web.Response(status=status)
            answer = web.Response(status=status, text=f"{status} {known.reason}")
        answer.force_close()
        return answer


class Connections(web.Server):
    """Makes a `Connection` for every client."""

    def __init__(self, *args: Any, header_timeout: float, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.header_timeout = header_timeout

    def __call__(self) -> web.RequestHandler:
        connection = Connection(self, loop=self._loop, **self._kwargs)
        connection.header_timeout = self.header_timeout
        return connection
