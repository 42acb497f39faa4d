"""A server on loopback that answers the page, and passes its reads on with the credentials of a kubeconfig.

It holds somebody's rights, so it answers data to nobody without the key, which only the address has that the command
prints. A browser sends no fragment of an address to any server; the page sends the key as a bearer token. A page of
another site is refused by Host, Origin and the site of the request, whatever it knows, and nothing but reads of the API
is passed on.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable

import aiohttp
from aiohttp import web
from yarl import URL

from hydrofoil.cli.client import trust
from hydrofoil.cli.failure import Failure
from hydrofoil.clock import stopwatch
from hydrofoil.errors import ApiError
from hydrofoil.outbound.kubeconfig import Access
from hydrofoil.outbound.trust import reason
from hydrofoil.ui.page import LINES, STATS, Page

ROOTS = ("/api", "/apis", "/version", "/hydrofoil/v1/clock", "/hydrofoil/v1/faults", STATS)
"""What the page reads: these paths, and those below the first two."""
ASKED = ("Accept", "Accept-Encoding")
"""The headers of a request that are passed on."""
ANSWERED = ("Content-Type", "Content-Encoding", "Warning", "Retry-After")
"""The headers of an answer that are passed on."""
RENEWED_SECONDS = 10.0
"""The least time between two runs of the program that prints credentials."""
HEADERS = dict(line.split(": ", 1) for line in LINES.decode().splitlines())


class Gateway:
    """The answers of one `hydrofoil ui`."""

    def __init__(self, access: Access, key: str, renew: Callable[[], Access]) -> None:
        """Take the server, and the key of the page; `renew` returns new credentials, and may block or raise Failure.

        Raise Failure for certificates that have no meaning.
        """
        self._access = access
        self._tls = trust(access) if access.url.startswith("https:") else None
        self._key = key.encode()
        self._renew = renew
        self._renewed = -RENEWED_SECONDS
        self._page = Page()
        self.authority = ""
        """Host and port of its own address: no other Host is answered."""
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """End what is passed on."""
        if self._session is not None:
            await self._session.close()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request: a file of the page, what the server says, or a Status."""
        try:
            self._check_origin(request)
            headers, path = request.headers, request.path
            tags, encodings = headers.get("If-None-Match", ""), headers.get("Accept-Encoding", "")
            file = self._page.answer(request.method, path, tags, encodings)
            if file is not None:
                lines = [line.split(": ", 1) for line in file.head.decode().splitlines()]
                return web.Response(
                    status=file.status, body=file.body, headers=[(name, value) for name, value in lines]
                )
            self._check_request(request)
            return await self._pass_on(request)
        except ApiError as e:
            return web.json_response(e.status(), status=e.code, headers=HEADERS)

    def _check_origin(self, request: web.BaseRequest) -> None:
        """Raise ApiError 403 for a request of another page than this one."""
        headers = request.headers
        if headers.getall("Host", []) != [self.authority]:
            raise refuse("this address answers its own name only")
        if any(origin != f"http://{self.authority}" for origin in headers.getall("Origin", [])):
            raise refuse("this address answers its own page only")

    def _check_request(self, request: web.BaseRequest) -> None:
        """Raise ApiError for a request that the page does not make, or without its key."""
        if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            raise refuse("this address answers its own page only")
        given = request.headers.get("Authorization", "").encode(errors="replace")
        if not hmac.compare_digest(given, b"Bearer " + self._key):
            text = "the key is missing or wrong: open the address that hydrofoil ui printed"
            raise ApiError(401, "Unauthorized", text)
        if request.method not in ("GET", "HEAD"):
            raise ApiError(405, "MethodNotAllowed", "only reads are passed on")
        # The path as it was sent is the one that is passed on: the checks must not see another one.
        path = request.raw_path.partition("?")[0]
        below = path.startswith(("/api/", "/apis/")) and "/../" not in f"{URL(path, encoded=True).path}/"
        if path not in ROOTS and not below:
            raise ApiError(404, "NotFound", "the page reads nothing of this path")

    async def _pass_on(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return the server's answer, piece by piece. Raise ApiError 502."""
        try:
            answer = await self._ask(request)
            if answer.status == 401 and await self._renew_credentials():
                answer.release()
                answer = await self._ask(request)
        except (aiohttp.ClientError, OSError) as e:
            raise ApiError(502, "BadGateway", f"no answer from {self._access.url}: {reason(e, '')}") from None
        kept = {name: answer.headers[name] for name in ANSWERED if name in answer.headers}
        passed = web.StreamResponse(status=answer.status, headers={**HEADERS, "Cache-Control": "no-store", **kept})
        try:
            await passed.prepare(request)
            async for piece in answer.content.iter_any():
                await passed.write(piece)
            await passed.write_eof()
            return passed
        except (aiohttp.ClientError, OSError):
            # The head was sent: only a broken connection tells that this is not the whole. Or the page has left.
            if request.transport is not None:
                request.transport.abort()
            return passed
        finally:
            answer.close()

    async def _ask(self, request: web.BaseRequest) -> aiohttp.ClientResponse:
        """Send a request with the credentials. Raise ClientError, OSError."""
        if self._session is None:
            # A watch lasts; a page that ends ends it by its connection.
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=30),
                connector=aiohttp.TCPConnector(limit=0),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        headers = {name: request.headers[name] for name in ASKED if name in request.headers}
        headers["User-Agent"] = "hydrofoil-ui"
        if self._access.authorization:
            headers["Authorization"] = self._access.authorization
        url = URL(self._access.url.rstrip("/") + request.raw_path, encoded=True)
        return await self._session.request(
            request.method,
            url,
            headers=headers,
            ssl=self._tls or True,
            server_hostname=self._access.server_name or None,
            allow_redirects=False,
        )

    async def _renew_credentials(self) -> bool:
        """Run the kubeconfig's program again, if there is one; report whether there are new credentials."""
        now = stopwatch()
        if not self._access.plugin or now - self._renewed < RENEWED_SECONDS:
            return False
        self._renewed = now
        try:
            self._access = await asyncio.to_thread(self._renew)
            self._tls = await asyncio.to_thread(trust, self._access) if self._tls is not None else None
        except Failure:
            return False
        return True


def refuse(text: str) -> ApiError:
    """Return a 403."""
    return ApiError(403, "Forbidden", text)
