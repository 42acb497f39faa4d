"""Calls of webhooks: connections, limits and errors (apiserver `pkg/util/webhook`, client-go `rest/request.go`).

No credential of the server or of its caller is ever sent: only those that the kubeconfig of the plug-in names for the
server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson

from hydrofoil.admission.webhooks.credentials import Credentials
from hydrofoil.admission.webhooks.hook import Hook
from hydrofoil.outbound import bounds
from hydrofoil.outbound.bounds import OBJECT
from hydrofoil.outbound.connections import Connections
from hydrofoil.outbound.endpoint import Endpoint
from hydrofoil.outbound.services import Services
from hydrofoil.outbound.trust import Trust, Unreachable, reason

SHOWN = 2048
"""The greatest number of bytes of an answer in an error."""
MESSAGES: Mapping[int, str] = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    406: "the server was unable to respond with a content type that the client supports",
    409: "the server reported a conflict",
    415: "the server was unable to accept the content type of our request",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}
"""Client-go's words for a status (apimachinery `api/errors.NewGenericServerResponse`)."""
RETRIES = 10
"""The most times that a call is repeated because its answer asks for that (client-go `rest/with_retry.go`)."""
NO_RESPONSE = "received invalid webhook response: webhook response was absent"


class CallFailed(Exception):
    """A call without a usable answer, for which the failure policy decides; `code` is that of its metrics."""

    def __init__(self, why: str, code: int = 503) -> None:
        super().__init__(why)
        self.code = code


class Calls:
    """The connections to webhooks; each is shared by those on the same server."""

    def __init__(self, services: Services, credentials: Credentials) -> None:
        self._services = services
        self._credentials = credentials
        self._open: dict[tuple[bytes, str], Connections] = {}

    def keep(self, hooks: Iterable[Hook]) -> None:
        """Close the connections that none of the webhooks uses, once the calls in flight have ended."""
        used = {hook.trusted for hook in hooks}
        for key in self._open.keys() - used:
            self._open.pop(key).retire()

    async def close(self) -> None:
        """Close all connections."""
        opened, self._open = self._open, {}
        for connections in opened.values():
            await connections.close()

    def _connections(self, hook: Hook) -> tuple[Connections, str]:
        """Return the connections to a webhook, and the header for its server; empty for none."""
        key = hook.trusted
        known = self._credentials.of(hook.client)
        found = self._open.get(key)
        if found is None:
            trust = Trust(key[0], certificate=known.certificate, key=known.key)
            found = self._open[key] = Connections(trust, unpack=True)
        return found, known.authorization

    async def post(self, hook: Hook, body: bytes) -> Any:
        """Return the decoded answer of a webhook. Raise CallFailed."""
        endpoint = Endpoint(hook.client, hook.seconds)
        connections, authorization = self._connections(hook)
        headers = {"Content-Type": "application/json", "Accept": "application/json, */*"}
        if authorization:
            headers["Authorization"] = authorization
        where, retries = "", 0
        try:
            async with asyncio.timeout(hook.seconds):
                while True:
                    url = endpoint.connect(self._services)
                    where = urlsplit(url).netloc
                    async with (
                        connections.call() as session,
                        session.post(
                            url, data=body, headers=headers, server_hostname=endpoint.host, allow_redirects=False
                        ) as answer,
                    ):
                        status, kind = answer.status, answer.headers.get("Content-Type", "")
                        pause = later(status, answer.headers.get("Retry-After", ""))
                        data = await bounds.read(answer, OBJECT)
                    if pause is None or retries == RETRIES:
                        break
                    retries += 1
                    await asyncio.sleep(pause)
        except TimeoutError:
            if retries:
                raise CallFailed("failed to call webhook: context deadline exceeded") from None
            raise _call_failure(endpoint, "context deadline exceeded") from None
        except (Unreachable, bounds.TooLarge) as e:
            raise _call_failure(endpoint, str(e)) from None
        except (aiohttp.ClientError, OSError, ValueError) as e:
            raise _call_failure(endpoint, reason(e, where)) from None
        if 300 <= status < 400:
            # Upstream follows a redirect and finds no review there either.
            raise CallFailed(NO_RESPONSE)
        if not 200 <= status <= 206:
            raise CallFailed(f"failed to call webhook: {_refusal(status, data, kind)}", status)
        if not data:
            text = f"0-length response with status code: {status} and content type: {kind}"
            raise CallFailed(f"failed to call webhook: {text}", 500)
        try:
            return await bounds.decode_json(data)
        except orjson.JSONDecodeError as e:
            raise CallFailed(f"failed to call webhook: couldn't get version/kind; json parse error: {e}") from None


def later(status: int, given: str) -> int | None:
    """Return the seconds after which an answer asks to be called again, by its Retry-After; None if it does not."""
    if not (status == 429 or status >= 500):
        return None
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else None


def _call_failure(endpoint: Endpoint, why: str) -> CallFailed:
    return CallFailed(f'failed to call webhook: Post "{endpoint.url}": {why}')


def _refusal(status: int, data: bytes, kind: str) -> str:
    """Return client-go's text for an answer that is not a success: the message of a Status precedes."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        found = None
    if isinstance(found, dict) and found.get("kind") == "Status" and found.get("status") != "Success":
        message = found.get("message")
        if isinstance(message, str):
            return message
    text = kind.startswith("text/")
    shown = (data[:SHOWN].decode(errors="replace").strip() if text else "") or "unknown"
    if status == 403:
        return shown
    if status in MESSAGES:
        return MESSAGES[status]
    if status >= 500:
        return f'an error on the server ("{shown}") has prevented the request from succeeding'
    return f"the server responded with the status code {status} but did not return more information"
