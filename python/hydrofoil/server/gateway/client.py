"""Connections to the upstream."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp

from hydrofoil.clock import Clock
from hydrofoil.errors import ApiError
from hydrofoil.outbound.connections import Connections
from hydrofoil.outbound.kubeconfig import Access, access
from hydrofoil.outbound.trust import Trust, Unreachable, reason
from hydrofoil.pool import keep_running
from hydrofoil.storage.upstream.contact import Contact
from hydrofoil.storage.upstream.requests import Body, Document, Failed

LOG = logging.getLogger("hydrofoil")
CONNECT_SECONDS = 3.0
"""The time limit of a connection: who waits is told within five seconds that the upstream is away."""
PROBE_SECONDS = (1.0, 3.0)
"""The interval between probes, and the time limit of one."""
RELOAD_SECONDS = 30.0
"""The interval in which the kubeconfig and its files are read again: tokens of service accounts change."""
PROBE = "/readyz"


class Upstream:
    """The server that a kubeconfig names."""

    def __init__(self, path: str, contact: Contact, clock: Clock) -> None:
        """Raise ValueError with one line. It blocks."""
        self.contact = contact
        self._path = path
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self._limits: set[asyncio.Timeout] = set()
        """The time limits of what waits for the first byte of an answer."""
        self._take(access(path))
        if self._access.plugin:
            raise ValueError(f"invalid configuration: {path}: exec is not supported for the user")

    def _take(self, found: Access) -> None:
        self._access = found
        self.url = found.url.rstrip("/")
        parts = urlsplit(self.url)
        self.secured = parts.scheme == "https"
        self.where = f"{parts.hostname}:{parts.port or (443 if self.secured else 80)}"
        self.name = found.server_name or None
        """The name in its certificate, if it is not the host's."""
        self.authorization = found.authorization
        """The header of this server's own requests; empty without one."""
        trust = Trust(found.ca, found.insecure)
        own = Trust(found.ca, found.insecure, found.certificate, found.key)
        self.anonymous = Connections(trust, unpack=False)
        """Connections without any credential, for requests of callers."""
        self.own = Connections(own, unpack=False)
        """Connections that present this server's certificate, if it has one."""
        self._asking = Connections(own, unpack=True)

    def start(self) -> None:
        """Begin to probe the upstream, and to read the kubeconfig again."""
        for work, what in (
            (self._probe, "the probe of the upstream"),
            (self._reload, "the kubeconfig of the upstream"),
        ):
            self._tasks.append(asyncio.create_task(keep_running(work, what, self._clock), name=what))

    async def close(self) -> None:
        """Stop, and close all connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connections in (self.anonymous, self.own, self._asking):
            await connections.close()

    def tls(self, *, own: bool) -> ssl.SSLContext | None:
        """Return the TLS settings of a connection that is upgraded; None without TLS. It blocks. Raise Unreachable."""
        return (self.own if own else self.anonymous).trust.context() if self.secured else None

    def headers(self) -> dict[str, str]:
        """Return the credentials of this server's own requests."""
        return {"Authorization": self.authorization} if self.authorization else {}

    @asynccontextmanager
    async def waiting(self, until: float | None) -> AsyncIterator[None]:
        """Wait for an answer up to a time of the loop, or until the upstream is away. Raise TimeoutError."""
        async with asyncio.timeout_at(until) as limit:
            self._limits.add(limit)
            try:
                yield
            finally:
                self._limits.discard(limit)

    def abandon(self) -> None:
        """End the waits for answers: connections are silent, so that nothing shows whether any will come."""
        now = asyncio.get_running_loop().time()
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(now)

    async def get(self, target: str, seconds: float, *, accept: str = "application/json") -> Document:
        """Return the answer for a path with a query. Raise Failed."""
        return await self.call("GET", target, seconds, self.headers() | {"Accept": accept})

    async def post(self, target: str, seconds: float, body: bytes, headers: dict[str, str] | None = None) -> Document:
        """Return the answer to a body in JSON; `headers` replace the credentials of this server. Raise Failed."""
        given = self.headers() if headers is None else headers
        given = given | {"Content-Type": "application/json", "Accept": "application/json"}
        return await self.call("POST", target, seconds, given, body, own=headers is None)

    async def call(
        self,
        method: str,
        target: str,
        seconds: float,
        headers: dict[str, str],
        body: bytes | None = None,
        *,
        own: bool = True,
    ) -> Document:
        """Return the answer to a request; `own`: on a connection with this server's certificate. Raise Failed."""
        try:
            session = await (self._asking if own else self.anonymous).session()
            async with (
                self.waiting(None),
                session.request(
                    method,
                    self.url + target,
                    data=body,
                    headers=headers,
                    server_hostname=self.name,
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(total=seconds, connect=CONNECT_SECONDS),
                ) as answer,
            ):
                data = await answer.read()
        except Unreachable as e:
            raise Failed(str(e)) from None
        except (aiohttp.ClientError, OSError, ValueError) as e:
            self.judge(e)
            raise Failed(reason(e, self.where)) from None
        self.contact.answered()
        return Document(answer.status, data)

    def judge(self, failure: BaseException) -> None:
        """Record a failure that shows that the upstream is away: no connection could be made."""
        if isinstance(failure, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            self.contact.failed(reason(failure, self.where))

    def unreachable(self) -> ApiError:
        """Return the 503 for what only the upstream can answer."""
        why = self.contact.problem or "it does not answer"
        text = f"the upstream {self.where} cannot be reached: {why}"
        return ApiError(503, "ServiceUnavailable", text, {}, retry_after=1)

    @asynccontextmanager
    async def stream(self, target: str, silence: float) -> AsyncIterator[Body]:
        """Open an answer that lasts; it fails after some seconds without a byte. Raise Failed."""
        try:
            session = await self._asking.session()
            async with session.get(
                self.url + target,
                headers=self.headers() | {"Accept": "application/json"},
                server_hostname=self.name,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=silence),
            ) as answer:
                self.contact.answered()
                yield Body(answer.status, answer.content.iter_any())
        except Unreachable as e:
            raise Failed(str(e)) from None
        except (aiohttp.ClientError, OSError, ValueError) as e:
            self.judge(e)
            raise Failed(reason(e, self.where)) from None

    async def _probe(self) -> None:
        """Ask at intervals whether the upstream answers: a connection that is silent shows nothing."""
        interval, limit = PROBE_SECONDS
        while True:
            try:
                await self.get(PROBE, limit)
            except Failed as e:
                self.contact.failed(str(e))
                self.abandon()
            await self._clock.machine.sleep(interval)

    async def _reload(self) -> None:
        """Read the kubeconfig again at intervals; a bad one leaves the last in force."""
        while True:
            await self._clock.machine.sleep(RELOAD_SECONDS)
            try:
                found = await asyncio.to_thread(access, self._path)
            except ValueError as e:
                LOG.error("%s", e)
                continue
            if found == self._access:
                continue
            if found._replace(authorization="") == self._access._replace(authorization=""):
                self._access, self.authorization = found, found.authorization
                continue
            retired = self.anonymous, self.own, self._asking
            self._take(found)
            for connections in retired:
                connections.retire()
