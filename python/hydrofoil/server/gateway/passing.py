"""Requests that are passed on to the upstream, and their answers, piece by piece."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

import aiohttp
from msgspec import Struct
from yarl import URL

from hydrofoil.answer import Answer
from hydrofoil.clock import Clock
from hydrofoil.endpoints.context import Context
from hydrofoil.errors import bad_request, internal, timed_out
from hydrofoil.headers import ACCEPT, ACCEPT_ENCODING, USER_AGENT
from hydrofoil.outbound.proxy import BEARER, BREAKS, HOP_BY_HOP, WITHOUT_BODY, Relay, escape_key
from hydrofoil.outbound.trust import Unreachable
from hydrofoil.outbound.upgrade import relay_upgrade
from hydrofoil.pool import retrieve_result
from hydrofoil.request import User
from hydrofoil.server.gateway.client import CONNECT_SECONDS, Upstream

LEFT_OUT = HOP_BY_HOP | {"date"}
"""Headers of answers that belong to the connection, and the one that this server writes itself."""
WRITES = frozenset(("POST", "PUT", "PATCH", "DELETE"))
GATHER_SECONDS = 0.005
"""The time in which those who ask the same join one read."""
LARGEST = 64 << 20
"""The greatest answer that several callers share; a larger one each reads for itself."""
Header = tuple[str, str]


class Shared(Struct, frozen=True):
    """A complete answer for all who asked the same."""

    status: int
    head: bytes
    body: bytes


class Fetch:
    """A read for all who ask the same."""

    task: asyncio.Task[Shared | None]

    def __init__(self) -> None:
        self.sent = False
        """Whether the upstream may have answered it by now."""


class Passing:
    """Everything that the upstream answers itself."""

    def __init__(self, upstream: Upstream, clock: Clock) -> None:
        self._upstream = upstream
        self._clock = clock
        self._fetches: dict[tuple[str, ...], Fetch] = {}
        self.counts: Counter[str] = Counter()
        """The requests that were sent, by verb."""

    async def pass_on(self, context: Context, user: User | None) -> Answer:
        """Pass a request on, as it is or on behalf of a user. Raise ApiError 503 and 504."""
        upgrade = "upgrade" in context.headers.get("Connection", "").lower()
        headers = self._headers(context, user, upgrade=upgrade)
        url = URL(self._upstream.url + context.target, encoded=True)
        self.counts[context.info.verb or context.method.lower()] += 1
        if upgrade:
            return await self._upgrade(context, url, headers, own=user is not None)
        answer = await self._send(context, url, headers, own=user is not None, body=True)
        return relay(context, answer)

    async def share(self, context: Context, user: User | None, caught_up: Callable[[], bool]) -> Answer | None:
        """Pass a read on, one for all who ask the same before it is sent: each of them may read it.

        Who comes later may have seen a later state than its answer has, and waits for the next one. Return None if
        `caught_up` is true by then. Raise ApiError 503 and 504.
        """
        names = (ACCEPT, ACCEPT_ENCODING, USER_AGENT)
        key = (context.target, *(context.headers.get(name, "") for name in names))
        while (fetch := self._fetches.get(key)) is not None and fetch.sent:
            await asyncio.wait([fetch.task])
            if caught_up():
                return None
        if fetch is None:
            fetch = self._fetches[key] = Fetch()
            fetch.task = asyncio.create_task(self._fetch(context, user, key, fetch), name="shared read")
            fetch.task.add_done_callback(retrieve_result)
        found = await asyncio.shield(fetch.task)
        if found is None:
            return await self.pass_on(context, user)
        return Answer(found.status, head_of(context, found.head), found.body)

    async def _fetch(self, context: Context, user: User | None, key: tuple[str, ...], fetch: Fetch) -> Shared | None:
        """Return an answer that every caller may have; None if it is not for all, or too large."""
        try:
            await self._clock.machine.sleep(GATHER_SECONDS)
            fetch.sent = True
            url = URL(self._upstream.url + context.target, encoded=True)
            self.counts[context.info.verb] += 1
            headers = self._headers(context, user, upgrade=False)
            answer = await self._send(context, url, headers, own=user is not None, body=False)
            try:
                return await read_shared(answer)
            finally:
                answer.close()
        finally:
            del self._fetches[key]

    async def _send(
        self, context: Context, url: URL, headers: Sequence[Header], *, own: bool, body: bool
    ) -> aiohttp.ClientResponse:
        upstream = self._upstream
        try:
            session = await (upstream.own if own else upstream.anonymous).session()
            async with upstream.waiting(context.ends()):
                return await session.request(
                    context.method,
                    url,
                    headers=headers,
                    data=context.arriving() if body else None,
                    server_hostname=upstream.name,
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS),
                )
        except Unreachable as e:
            upstream.contact.failed(str(e))
            raise upstream.unreachable() from None
        except (aiohttp.ClientError, OSError) as e:
            upstream.judge(e)
            ends = context.ends()
            if isinstance(e, TimeoutError) and ends is not None and asyncio.get_running_loop().time() >= ends:
                raise timed_out() from None
            raise upstream.unreachable() from None

    async def _upgrade(self, context: Context, url: URL, headers: list[Header], *, own: bool) -> Answer:
        upstream = self._upstream
        try:
            tls = await asyncio.to_thread(upstream.tls, own=own)
        except Unreachable as e:
            upstream.contact.failed(str(e))
            raise upstream.unreachable() from None
        return await relay_upgrade(context, url, headers, tls, upstream.name or url.host or "")

    def _headers(self, context: Context, user: User | None, *, upgrade: bool) -> list[Header]:
        """Return the headers of a request: with the caller's own credentials, or for a user with this server's."""
        named = {t.strip().lower() for value in context.headers.getall("Connection", []) for t in value.split(",")}
        host = self._upstream.url.partition("://")[2].partition("/")[0]
        out: list[Header] = [("Host", host)]
        audited = False
        for name, value in context.request.headers.items():
            low = name.lower()
            if low in ("host", "x-forwarded-for") or low.startswith("x-remote-"):
                continue
            if not upgrade and (low in HOP_BY_HOP or low in named):
                continue
            if user is not None:
                if low == "authorization" or low.startswith("impersonate-"):
                    continue
                if low == "sec-websocket-protocol" and BEARER in value:
                    kept = [part for part in map(str.strip, value.split(",")) if not part.startswith(BEARER)]
                    out.append((name, ", ".join(kept)))
                    continue
            audited = audited or low == "audit-id"
            out.append((name, value))
        chain = [*context.request.headers.getall("X-Forwarded-For", []), context.remote]
        if found := ", ".join(part for part in chain if part):
            out.append(("X-Forwarded-For", found))
        if not audited:
            out.append(("Audit-ID", context.audit_id))
        if user is not None:
            out += self._upstream.headers().items()
            out += impersonation_headers(user)
        if any(BREAKS.search(value) for _, value in out):
            # Without one of them the request would be that of another user.
            raise bad_request("a header of the request has a line break")
        return out


async def read_shared(answer: aiohttp.ClientResponse) -> Shared | None:
    """Return a complete answer; None if it is not for all, or too large."""
    if answer.status not in (200, 404, 410) or (answer.content_length or 0) > LARGEST:
        return None
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in answer.content.iter_any():
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST:
                return None
    except (aiohttp.ClientError, OSError):
        return None
    return Shared(answer.status, lines_of(answer, {"content-length"}), b"".join(pieces))


def impersonation_headers(user: User) -> list[Header]:
    """Return the headers by which this server acts for a user (client-go `transport.ImpersonationConfig`)."""
    if not user.name:
        # Without a name it would be this server's own request.
        raise internal(ValueError("a user has no name"))
    out = [("Impersonate-User", user.name)]
    if user.uid:
        out.append(("Impersonate-Uid", user.uid))
    out += (("Impersonate-Group", group) for group in user.groups)
    for key, values in user.extra.items():
        out += ((f"Impersonate-Extra-{escape_key(key)}", value) for value in values)
    return out


def lines_of(answer: aiohttp.ClientResponse, without: set[str]) -> bytes:
    """Return the header lines of an answer, without those of its connection."""
    named = {token.strip().lower() for value in answer.headers.getall("Connection", []) for token in value.split(",")}
    left_out = LEFT_OUT | named | without
    found = ((name, value) for name, value in answer.raw_headers if name.decode("latin-1").lower() not in left_out)
    return b"".join(b"%s: %s\r\n" % pair for pair in found)


def head_of(context: Context, lines: bytes) -> bytes:
    """Return header lines with the id of the request, if they have none."""
    return lines if b"audit-id:" in lines.lower() else b"Audit-Id: %s\r\n%s" % (context.audit_id.encode(), lines)


def relay(context: Context, answer: aiohttp.ClientResponse) -> Answer:
    """Return an answer whose body is passed on as it arrives."""
    head = head_of(context, lines_of(answer, set()))
    if context.method == "HEAD" or answer.status in WITHOUT_BODY:
        answer.release()
        return Answer(answer.status, head, sized=True)
    # A request that ended meanwhile, or never reaches this, leaves nothing open.
    context.at_end(lambda _: answer.close())
    body = Relay(answer.content, context.request_timeout)
    return Answer(answer.status, head, stream=body, sized="content-length" in answer.headers)
