"""Requests passed on to another server (kube-aggregator `pkg/apiserver/handler_proxy.go`)."""

from __future__ import annotations

import asyncio
import re
import string
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlencode

import aiohttp
from yarl import URL

from hydrofoil.answer import Answer, Sink, plain
from hydrofoil.errors import timed_out
from hydrofoil.outbound.connections import Connections
from hydrofoil.outbound.trust import Unreachable, reason
from hydrofoil.outbound.upgrade import relay_upgrade
from hydrofoil.request import Incoming

DISCOVERY_SECONDS = 5.0
"""The time limit of a service for its discovery document."""
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
TOKEN = frozenset(string.ascii_letters + string.digits + "!#$&'*+-.^_`|~")
BEARER = "base64url.bearer.authorization.k8s.io."
"""The prefix of a subprotocol that is a token."""
BREAKS = re.compile(r"[\r\n\0]")
WITHOUT_BODY = frozenset({204, 304})


def refusal(request: Incoming, status: int, text: str) -> Answer:
    """Return an error of the proxy itself, in plain text."""
    return plain(status, text + "\n", request.common)


def forwarded_headers(request: Incoming, host: str, *, upgrade: bool) -> list[tuple[str, str]]:
    """Return the headers of a request for a service: the user is in X-Remote-*, and only there."""
    named = {token.strip().lower() for value in request.headers.getall("Connection", []) for token in value.split(",")}
    out: list[tuple[str, str]] = [("Host", host)]
    for name, value in request.headers.items():
        low = name.lower()
        if low in ("host", "authorization", "x-forwarded-for", "audit-id") or low.startswith(
            ("x-remote-", "impersonate-")
        ):
            continue
        if not upgrade and (low in HOP_BY_HOP or low in named):
            continue
        if low == "sec-websocket-protocol" and BEARER in value:
            # A token that the header of another one made superfluous.
            kept = [part for part in map(str.strip, value.split(",")) if not part.startswith(BEARER)]
            out.append((name, ", ".join(kept)))
            continue
        out.append((name, value))
    chain = [*request.headers.getall("X-Forwarded-For", []), request.remote]
    out.append(("X-Forwarded-For", ", ".join(part for part in chain if part)))
    if not upgrade:
        out.append(("X-Forwarded-Uri", request.target.partition("?")[0]))
    out.append(("Audit-Id", request.audit_id))
    user = request.user
    return out + identity(user.name, user.uid, user.groups, user.extra)


def identity(
    user: str, uid: str = "", groups: Iterable[str] = (), extra: Mapping[str, Iterable[str]] | None = None
) -> list[tuple[str, str]]:
    """Return the headers that identify the user (client-go `transport.SetAuthProxyHeaders`)."""
    out = [("X-Remote-User", user)]
    if uid:
        out.append(("X-Remote-Uid", uid))
    out += (("X-Remote-Group", group) for group in groups)
    for key, values in (extra or {}).items():
        out += ((f"X-Remote-Extra-{escape_key(key)}", value) for value in values)
    return out


def escape_key(key: str) -> str:
    """Return a key as a part of a header's name: other bytes than those of a token are escaped (`headerKeyEscape`)."""
    return "".join(chr(b) if b < 128 and chr(b) in TOKEN else f"%{b:02X}" for b in key.encode())


def target(request: Incoming, where: str) -> URL:
    """Return the URL of a request at a service, with parameters in Go's order."""
    path, _, query = request.target.partition("?")
    given = sorted(parse_qsl(query, keep_blank_values=True), key=lambda pair: pair[0])
    return URL(f"https://{where}{path}" + (f"?{urlencode(given)}" if given else ""), encoded=True)


async def pass_on(request: Incoming, where: str, host: str, connections: Connections) -> Answer:
    """Pass a request to the server at `where` (`host:port`); `host`: the name that its certificate must have.

    Raise ApiError 504.
    """
    upgrade = "upgrade" in request.headers.get("Connection", "").lower()
    headers = forwarded_headers(request, where, upgrade=upgrade)
    if (broken := next((name for name, value in headers if BREAKS.search(value)), "")) != "":
        # A name of a user may hold what would end the header.
        text = f'net/http: invalid header field value for "{broken}"'
        return refusal(request, 503, f"error trying to reach service: {text}")
    url = target(request, where)
    try:
        if upgrade:
            return await relay_upgrade(request, url, headers, connections.trust.context(), host)
        session = await connections.session()
    except Unreachable as e:
        return refusal(request, 500 if not upgrade else 503, str(e))
    discovery = len(request.target.partition("?")[0].strip("/").split("/")) == 3
    try:
        async with asyncio.timeout_at(request.ends()) as limit:
            answer = await session.request(
                request.method,
                url,
                headers=headers,
                data=request.arriving(),
                server_hostname=host,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=DISCOVERY_SECONDS if discovery else None),
            )
    except (aiohttp.ClientError, OSError) as e:
        if isinstance(e, TimeoutError) and limit.expired():
            raise timed_out() from None
        return refusal(request, 503, f"error trying to reach service: {reason(e, where)}")
    return relay_response(request, answer)


def relay_response(request: Incoming, answer: aiohttp.ClientResponse) -> Answer:
    """Pass a response on, piece by piece as it arrives."""
    named = {token.strip().lower() for value in answer.headers.getall("Connection", []) for token in value.split(",")}
    left_out = HOP_BY_HOP | CROSS_ORIGIN | named
    lines = [
        b"%s: %s\r\n" % (name, value) for name, value in answer.raw_headers if name.decode().lower() not in left_out
    ]
    head = request.common + b"".join(lines)
    if request.method == "HEAD" or answer.status in WITHOUT_BODY:
        answer.release()
        return Answer(answer.status, head, sized=True)
    # A request that ended meanwhile, or never reaches this, leaves nothing open.
    request.at_end(lambda _: answer.close())
    body = Relay(answer.content, request.request_timeout)
    return Answer(answer.status, head, stream=body, sized="content-length" in answer.headers)


class Relay:
    """The body of a response, passed on piece by piece."""

    def __init__(self, content: aiohttp.StreamReader, seconds: float) -> None:
        self._content = content
        self._seconds = seconds
        """The time that a reader has for a piece."""

    async def write(self, sink: Sink) -> None:
        """Write the body. Raise TimeoutError for a reader that takes nothing, even of a watch."""
        sink.begin()
        async for piece in self._content.iter_any():
            sink.write(piece)
            if sink.paused():
                async with asyncio.timeout(self._seconds):
                    await sink.drained()
