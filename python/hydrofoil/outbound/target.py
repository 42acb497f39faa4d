"""A server that the configuration names: calls of it, bounded in bytes and time."""

from __future__ import annotations

from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct

from hydrofoil.outbound.bounds import TooLarge, read
from hydrofoil.outbound.connections import Connections
from hydrofoil.outbound.propagation import propagation
from hydrofoil.outbound.trust import Trust, Unreachable, reason


class Reply(Struct, frozen=True):
    """A complete response."""

    status: int
    body: bytes
    content_type: str = ""
    retry_after: str = ""
    """The header of that name."""


class Reset(Unreachable):
    """The other side ended the connection before its response: another attempt may succeed."""


class Target:
    """One server, with the credentials for it. Redirects are not followed.

    `authorization` is the value of that header for `post`; `name` replaces the host of the URL in the check of the
    certificate.
    """

    def __init__(self, url: str, trust: Trust, authorization: str = "", name: str = "") -> None:
        self.url = url
        self.trust = trust
        self.authorization = authorization
        self._name = name
        self._connections = Connections(trust, unpack=True)

    async def post(self, body: bytes, seconds: float, bound: int) -> Reply:
        """Send JSON and return the response. Raise Unreachable."""
        headers = {"Content-Type": "application/json"}
        return await self._call("POST", self.url, seconds, bound, headers, self.authorization, body)

    async def get(self, url: str, seconds: float, bound: int, authorization: str = "") -> Reply:
        """Return the response of a URL, which may be on another server than `url`. Raise Unreachable.

        The own credentials are not sent, but those given.
        """
        return await self._call("GET", url, seconds, bound, {}, authorization)

    async def _call(
        self,
        method: str,
        url: str,
        seconds: float,
        bound: int,
        headers: dict[str, str],
        authorization: str,
        body: bytes | None = None,
    ) -> Reply:
        headers |= {"Accept": "application/json, */*"}
        if (inject := propagation.get()) is not None:
            inject(headers)
        if authorization:
            headers["Authorization"] = authorization
        prefix = f'{method.capitalize()} "{url}": '
        try:
            parts = urlsplit(url)
            # The port shows in messages, as Go's dialler has it.
            where = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        except ValueError:
            raise Unreachable(prefix + "invalid URL") from None
        try:
            async with self._connections.call() as session:
                name = self._name or None
                call = session.request(
                    method,
                    url,
                    data=body,
                    headers=headers,
                    allow_redirects=False,
                    server_hostname=name,
                    timeout=aiohttp.ClientTimeout(total=seconds),
                )
                async with call as answer:
                    data = await read(answer, bound)
                    kind, later = answer.headers.get("Content-Type", ""), answer.headers.get("Retry-After", "")
                    return Reply(answer.status, data, kind, later)
        except TooLarge as e:
            raise Unreachable(prefix + str(e)) from None
        except TimeoutError:
            raise Unreachable(prefix + "context deadline exceeded") from None
        except (aiohttp.ServerDisconnectedError, ConnectionResetError) as e:
            raise Reset(prefix + reason(e, where)) from None
        except (aiohttp.ClientError, OSError, ValueError) as e:
            raise Unreachable(prefix + reason(e, where)) from None

    def retire(self) -> None:
        """Close its connections once the calls in flight have ended."""
        self._connections.retire()

    async def close(self) -> None:
        """Close its connections."""
        await self._connections.close()
