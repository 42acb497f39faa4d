"""Requests passed on to the service of an API service (kube-aggregator `pkg/apiserver/handler_proxy.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import parse_qsl, urlencode

import aiohttp
from aiohttp import web
from yarl import URL

from hydrofoil.apis.registration import Registration, Service
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.params import parse, truth
from hydrofoil.errors import timed_out
from hydrofoil.registry.backends import Backends, Unreachable, identity, reason
from hydrofoil.registry.strategies.base import USER
from hydrofoil.server.health import TEXT
from hydrofoil.server.inflight import LONG_RUNNING
from hydrofoil.server.upgrade import upgraded

DISCOVERY_SECONDS = 5.0
"""How long a service may take to answer a request for its discovery document."""
HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
CROSS_ORIGIN = frozenset(f"access-control-allow-{name}" for name in ("credentials", "headers", "methods", "origin"))
WITHOUT_BODY = frozenset({204, 304})


def refusal(request: web.BaseRequest, status: int, text: str, common: bytes) -> respond.Answer:
    """A failure of the proxy itself, in plain text."""
    head = common + b"X-Content-Type-Options: nosniff\r\n"
    return respond.answer(request, status, text.encode() + b"\n", TEXT, head)


def forwarded(request: web.BaseRequest, host: str, common: bytes, *, upgrade: bool) -> list[tuple[str, str]]:
    """The headers of a request as a service gets them: who asks stands in X-Remote-*, and only there."""
    named = {token.strip().lower() for value in request.headers.getall("Connection", []) for token in value.split(",")}
    out: list[tuple[str, str]] = [("Host", host)]
    for name, value in request.headers.items():
        low = name.lower()
        if low in ("host", "authorization", "x-forwarded-for", "audit-id") or low.startswith("x-remote-"):
            continue
        if not upgrade and (low in HOP_BY_HOP or low in named):
            continue
        out.append((name, value))
    chain = [*request.headers.getall("X-Forwarded-For", []), request.remote or ""]
    out.append(("X-Forwarded-For", ", ".join(part for part in chain if part)))
    if not upgrade:
        out.append(("X-Forwarded-Uri", request.raw_path.partition("?")[0]))
    audit = next((line for line in common.split(b"\r\n") if line.startswith(b"Audit-Id: ")), b"Audit-Id: ")
    out.append(("Audit-Id", audit.partition(b": ")[2].decode()))
    return out + identity(USER["username"], USER["uid"], USER["groups"])


def target(request: web.BaseRequest, where: str) -> URL:
    """The URL of a request at a service; its parameters in Go's order."""
    path, _, query = request.raw_path.partition("?")
    given = sorted(parse_qsl(query, keep_blank_values=True), key=lambda pair: pair[0])
    return URL(f"https://{where}{path}" + (f"?{urlencode(given)}" if given else ""), encoded=True)


async def pieces(request: web.BaseRequest) -> AsyncIterator[bytes]:
    """The body of a request as it arrives."""
    async for piece in request.content.iter_any():
        yield piece


def lasting(request: web.BaseRequest) -> bool:
    """Whether a request lasts as long as its client wants (`LongRunningFunc`)."""
    path, _, query = request.raw_path.partition("?")
    return truth(parse(query), "watch") or "/watch/" in path or path.rpartition("/")[2] in LONG_RUNNING


async def proxy(
    request: web.BaseRequest, registered: Registration, service: Service, backends: Backends, common: bytes
) -> web.StreamResponse:
    """Has a service answer a request; 503 while it is not available."""
    if not registered.available:
        return refusal(request, 503, "service unavailable", common)
    try:
        where = backends.locate(service)
    except Unreachable:
        return refusal(request, 503, "service unavailable", common)
    upgrade = "upgrade" in request.headers.get("Connection", "").lower()
    headers = forwarded(request, where, common, upgrade=upgrade)
    url = target(request, where)
    try:
        if upgrade:
            return await upgraded(request, url, headers, backends.context(service), service.host)
        session = await backends.session(service)
    except Unreachable as e:
        return refusal(request, 500 if not upgrade else 503, str(e), common)
    discovery = len(request.raw_path.partition("?")[0].strip("/").split("/")) == 3
    deadline = None if lasting(request) else asyncio.get_running_loop().time() + respond.patience(request)
    try:
        async with asyncio.timeout_at(deadline) as limit:
            answer = await session.request(
                request.method,
                url,
                headers=headers,
                data=pieces(request) if request.can_read_body else None,
                server_hostname=service.host,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=DISCOVERY_SECONDS if discovery else None),
            )
    except (aiohttp.ClientError, OSError) as e:
        if isinstance(e, TimeoutError) and limit.expired():
            raise timed_out() from None
        return refusal(request, 503, f"error trying to reach service: {reason(e, where)}", common)
    async with answer:
        return await _passed(request, answer, common, deadline)


async def _passed(
    request: web.BaseRequest, answer: aiohttp.ClientResponse, common: bytes, deadline: float | None
) -> web.StreamResponse:
    """Passes an answer on, piece by piece as it arrives, until a deadline; one without is a watch or the like.

    A client that reads nothing for as long as another request may take is cut off in any case.
    """
    named = {token.strip().lower() for value in answer.headers.getall("Connection", []) for token in value.split(",")}
    left_out = HOP_BY_HOP | CROSS_ORIGIN | named
    lines = [
        b"%s: %s\r\n" % (name, value) for name, value in answer.raw_headers if name.decode().lower() not in left_out
    ]
    known = {name.lower() for name in answer.headers}
    whole = request.method == "HEAD" or answer.status in WITHOUT_BODY
    chunked = not whole and "content-length" not in known and request.version >= (1, 1)
    close = respond.closes(request) or (not whole and "content-length" not in known and not chunked)
    head = b"HTTP/1.1 %d %s\r\n%s%s" % (answer.status, (answer.reason or "").encode(), common, b"".join(lines))
    head += b"" if "date" in known else respond.CLOCK.line()
    head += b"Transfer-Encoding: chunked\r\n" if chunked else b""
    head += b"Connection: close\r\n" if close else b""
    transport = request.transport
    if transport is None:
        return respond.Streamed(answer.status, close=True)
    transport.write(head + b"\r\n")
    if whole:
        return respond.Streamed(answer.status, close=close)
    try:
        async with asyncio.timeout_at(deadline):
            async for piece in answer.content.iter_any():
                transport.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
                if request.protocol.writing_paused and not await respond.taken(request):
                    return respond.Streamed(answer.status, close=True)
    except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError):
        # The head has gone out: only a broken connection can tell.
        respond.cut(transport)
        return respond.Streamed(answer.status, close=True)
    if chunked:
        transport.write(b"0\r\n\r\n")
    return respond.Streamed(answer.status, close=close)
