"""Requests passed on to the service of an API service (kube-aggregator `pkg/apiserver/handler_proxy.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import parse_qsl, urlencode

import aiohttp
from aiohttp import web
from yarl import URL

from hydrofoil.answer import TEXT, Answer, Sink
from hydrofoil.apis.registration import Registration, Service
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.errors import timed_out
from hydrofoil.registry.backends import Backends, Unreachable, identity, reason
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


def refusal(context: Context, status: int, text: str) -> Answer:
    """A failure of the proxy itself, in plain text."""
    return respond.answer(context, status, text.encode() + b"\n", TEXT, context.common + respond.NOSNIFF)


def forwarded(context: Context, host: str, *, upgrade: bool) -> list[tuple[str, str]]:
    """The headers of a request as a service gets them: who asks stands in X-Remote-*, and only there."""
    request = context.request
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
    out.append(("Audit-Id", context.audit_id))
    return out + identity(context.user.name, context.user.uid, context.user.groups)


def target(request: web.BaseRequest, where: str) -> URL:
    """The URL of a request at a service; its parameters in Go's order."""
    path, _, query = request.raw_path.partition("?")
    given = sorted(parse_qsl(query, keep_blank_values=True), key=lambda pair: pair[0])
    return URL(f"https://{where}{path}" + (f"?{urlencode(given)}" if given else ""), encoded=True)


async def pieces(request: web.BaseRequest) -> AsyncIterator[bytes]:
    """The body of a request as it arrives."""
    async for piece in request.content.iter_any():
        yield piece


async def proxy(context: Context, registered: Registration, service: Service, backends: Backends) -> Answer:
    """Have a service answer a request; 503 while it is not available. Raises ApiError 504."""
    if not registered.available:
        return refusal(context, 503, "service unavailable")
    try:
        where = backends.locate(service)
    except Unreachable:
        return refusal(context, 503, "service unavailable")
    request = context.request
    upgrade = "upgrade" in request.headers.get("Connection", "").lower()
    headers = forwarded(context, where, upgrade=upgrade)
    url = target(request, where)
    try:
        if upgrade:
            return await upgraded(context, url, headers, backends.context(service), service.host)
        session = await backends.session(service)
    except Unreachable as e:
        return refusal(context, 500 if not upgrade else 503, str(e))
    discovery = len(request.raw_path.partition("?")[0].strip("/").split("/")) == 3
    try:
        async with asyncio.timeout_at(context.ends) as limit:
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
        return refusal(context, 503, f"error trying to reach service: {reason(e, where)}")
    return passed(context, answer)


def passed(context: Context, answer: aiohttp.ClientResponse) -> Answer:
    """An answer passed on, piece by piece as it arrives."""
    named = {token.strip().lower() for value in answer.headers.getall("Connection", []) for token in value.split(",")}
    left_out = HOP_BY_HOP | CROSS_ORIGIN | named
    lines = [
        b"%s: %s\r\n" % (name, value) for name, value in answer.raw_headers if name.decode().lower() not in left_out
    ]
    head = context.common + b"".join(lines)
    if context.request.method == "HEAD" or answer.status in WITHOUT_BODY:
        answer.release()
        return Answer(answer.status, head, sized=True)
    # Who has come to an end meanwhile, or never gets to it, leaves nothing open.
    context.at_end(lambda _: answer.close())

    async def stream(sink: Sink) -> None:
        sink.begin()
        async for piece in answer.content.iter_any():
            sink.write(piece)
            if sink.paused():
                # Who reads nothing for as long as another request may take is cut off, be it a watch.
                async with asyncio.timeout(context.parts.request_timeout):
                    await sink.drained()

    return Answer(answer.status, head, stream=stream, sized="content-length" in answer.headers)
