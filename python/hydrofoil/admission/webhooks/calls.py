"""Calls of webhooks: connections, limits and errors (apiserver `pkg/util/webhook`, client-go `rest/request.go`).

No credential of the server or of its caller is ever sent: only those that the kubeconfig of the plug-in names for the
server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import orjson

from hydrofoil.admission.webhooks.credentials import Credentials
from hydrofoil.admission.webhooks.hook import Hook
from hydrofoil.outbound import bounds, review
from hydrofoil.outbound.bounds import OBJECT
from hydrofoil.outbound.connections import Connections
from hydrofoil.outbound.endpoint import Endpoint
from hydrofoil.outbound.services import Services
from hydrofoil.outbound.trust import Trust, Unreachable

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
        retries = 0
        try:
            async with asyncio.timeout(hook.seconds):
                while True:
                    reply = await review.send(connections, endpoint, self._services, body, OBJECT, authorization)
                    pause = review.retry_after(reply)
                    if pause is None or retries == RETRIES:
                        break
                    retries += 1
                    await asyncio.sleep(pause)
        except TimeoutError:
            why = review.LATE if retries else review.post_failure(endpoint, review.LATE)
            raise CallFailed(f"failed to call webhook: {why}") from None
        except Unreachable as e:
            raise CallFailed(f"failed to call webhook: {e}") from None
        status, data = reply.status, reply.body
        if 300 <= status < 400:
            # Upstream follows a redirect and finds no review there either.
            raise CallFailed(NO_RESPONSE)
        if not review.is_success(status):
            raise CallFailed(f"failed to call webhook: {review.response_failure(reply)}", status)
        if not data:
            text = f"0-length response with status code: {status} and content type: {reply.content_type}"
            raise CallFailed(f"failed to call webhook: {text}", 500)
        try:
            return await bounds.decode_json(data)
        except orjson.JSONDecodeError as e:
            raise CallFailed(f"failed to call webhook: couldn't get version/kind; json parse error: {e}") from None
