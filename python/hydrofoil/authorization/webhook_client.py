"""Calls of an authorization webhook (apiserver `pkg/util/webhook`, client-go `rest/request.go`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.go_text import format_duration
from hydrofoil.outbound import bounds
from hydrofoil.outbound.target import Reply, Reset, Target
from hydrofoil.outbound.trust import Unreachable

BOUND = 1 << 20
"""The greatest size of an answer, in bytes. Upstream has no bound."""
SHOWN = 1000
"""The greatest number of characters of a message that is passed on."""
AGAIN = frozenset((429, 504))
"""Statuses after which a webhook is asked again; not so after a 500."""
TOO_LATE = "context deadline exceeded"


class Failed(Exception):
    """A call without a usable answer."""

    def __init__(self, text: str, result: str = "error", *, again: bool = False) -> None:
        super().__init__(text)
        self.result = result
        """Its label in metrics."""
        self.again = again
        """Whether another attempt may succeed."""


class WebhookClient:
    """The server of a webhook."""

    def __init__(self, target: Target, seconds: float) -> None:
        """`seconds`: the time limit of a call with its answer; the server learns it from the query."""
        target.url += f"{'&' if '?' in target.url else '?'}timeout={format_duration(seconds)}"
        self._target = target
        self._seconds = seconds

    async def post(self, body: bytes) -> Any:
        """Return the decoded answer to a review. Raise Failed."""
        try:
            reply = await self._target.post(body, self._seconds, BOUND)
        except Reset as e:
            raise Failed(str(e), again=True) from None
        except Unreachable as e:
            raise Failed(str(e), "timeout" if str(e).endswith(TOO_LATE) else "error") from None
        if not 200 <= reply.status <= 206:
            raise _failure_of_reply(reply)
        try:
            return await bounds.decode_json(reply.body)
        except orjson.JSONDecodeError:
            raise Failed("couldn't get version/kind; json parse error: invalid JSON") from None

    def close(self) -> None:
        """Close once the calls in flight have ended."""
        self._target.retire()


def _failure_of_reply(reply: Reply) -> Failed:
    """Return the error in an answer: the message of a Status, but no other body."""
    text = "an error on the server has prevented the request from succeeding"
    try:
        status = orjson.loads(reply.body)
    except orjson.JSONDecodeError:
        status = None
    if isinstance(status, dict) and status.get("status") == "Failure" and isinstance(status.get("message"), str):
        text = status["message"][:SHOWN]
    again = reply.status in AGAIN or (reply.status not in (500, 501) and bool(reply.retry_after))
    return Failed(text, "timeout" if reply.status == 504 else "error", again=again)
