"""Reviews that other servers answer: client-go's error texts, and its rules on another attempt.

client-go `rest/request.go` and `rest/with_retry.go`, apimachinery `api/errors.NewGenericServerResponse`, apiserver
`pkg/util/webhook`. The webhooks of admission, conversion, authorization and authentication differ in what they do with
a failure, and in the rules below, which are data; how they post a review and what they call a failure is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson
from msgspec import Struct

from hydrofoil.clock import Chance
from hydrofoil.outbound import bounds
from hydrofoil.outbound.connections import Connections
from hydrofoil.outbound.endpoint import Endpoint
from hydrofoil.outbound.services import Services
from hydrofoil.outbound.target import Reply, Reset, Target
from hydrofoil.outbound.trust import Unreachable, reason

SHOWN = 2048
"""The greatest number of bytes of an answer in an error."""
LATE = "context deadline exceeded"
GENERIC: Mapping[int, tuple[str, str]] = {
    400: ("BadRequest", "the server rejected our request for an unknown reason"),
    401: ("Unauthorized", "the server has asked for the client to provide credentials"),
    404: ("NotFound", "the server could not find the requested resource"),
    405: ("MethodNotAllowed", "the server does not allow this method on the requested resource"),
    406: ("NotAcceptable", "the server was unable to respond with a content type that the client supports"),
    409: ("Conflict", "the server reported a conflict"),
    415: ("UnsupportedMediaType", "the server was unable to accept the content type of our request"),
    422: ("Invalid", "the server rejected our request due to an error in our request"),
    429: ("TooManyRequests", "the server has received too many requests and has asked us to try again later"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: (
        "Timeout",
        "the server was unable to return a response in the time allotted, but may still be processing the request",
    ),
}
"""Client-go's reason and words for a status."""


class ReviewFailed(Exception):
    """A review without a usable answer."""

    def __init__(self, text: str, *, again: bool = False, late: bool = False) -> None:
        super().__init__(text)
        self.again = again
        """Whether another attempt may succeed."""
        self.late = late
        """Whether it took too long."""


class Backoff(Struct, frozen=True):
    """The attempts at a review, and the pauses between them (apimachinery `util/wait.Backoff`)."""

    steps: int = 5
    """The number of attempts (`DefaultAuthWebhookRetryBackoff`)."""
    first: float = 0.5
    """The seconds before the second attempt."""
    factor: float = 1.5
    jitter: float = 0.0
    """The most that a pause is stretched by, as a part of it."""

    def pauses(self) -> Iterator[float | None]:
        """Yield the seconds to wait after each attempt, without jitter, and None after the last one."""
        pause = self.first
        for _ in range(self.steps - 1):
            yield pause
            pause *= self.factor
        yield None

    def stretch(self, pause: float, chance: Chance) -> float:
        """Return a pause with its jitter, which is drawn only for a pause that is made: a seed repeats."""
        return pause * chance.between(1.0, 1.0 + self.jitter)


class Rule(Struct, frozen=True):
    """What the answer of a server that is no success means, by client."""

    mark: tuple[str, str]
    """The member, and its value, by which an answer is a Status with a message."""
    unknown: str
    """The text for an answer without one; `{status}` is its status."""
    shown: int
    """The greatest number of characters of a message that is passed on."""
    codes: frozenset[int]
    """Statuses after which the server is asked again."""
    reasons: frozenset[str]
    """Reasons after which it is; that of an answer that is no Status follows from its status."""
    delayed: frozenset[int]
    """Statuses after which it is if they have a Retry-After."""
    in_seconds: bool
    """Whether that must be a number of seconds."""

    def failure(self, reply: Reply, found: Any) -> ReviewFailed:
        """Return the failure of an answer; `found` is what was decoded of it."""
        key, value = self.mark
        status = found if isinstance(found, dict) and found.get(key) == value else None
        message = None if status is None else status.get("message")
        why = REASONS.get(reply.status) if status is None else status.get("reason")
        delayed = reply.retry_after.isdigit() if self.in_seconds else bool(reply.retry_after)
        again = reply.status in self.codes or why in self.reasons or (reply.status in self.delayed and delayed)
        text = message[: self.shown] if isinstance(message, str) and message else self.unknown
        return ReviewFailed(text.replace("{status}", str(reply.status)), again=again, late=reply.status == 504)


REASONS = {429: "TooManyRequests", 500: "InternalError", 504: "Timeout"}
"""The reasons of failures that are no Status, as far as a rule looks at them."""
AUTHENTICATION = Rule(
    mark=("kind", "Status"),
    unknown="an error on the server: status {status}",
    shown=1 << 20,
    codes=frozenset(),
    reasons=frozenset(("InternalError", "Timeout", "TooManyRequests")),
    delayed=frozenset((429, 503)),
    in_seconds=True,
)
AUTHORIZATION = Rule(
    mark=("status", "Failure"),
    unknown="an error on the server has prevented the request from succeeding",
    shown=1000,
    codes=frozenset((429, 504)),
    reasons=frozenset(),
    # Not so after a 500, which a webhook answers where it has no decision.
    delayed=frozenset(range(1000)) - {500, 501},
    in_seconds=False,
)


class Review:
    """The reviews of one server that a kubeconfig names."""

    def __init__(self, target: Target, rule: Rule, seconds: float, bound: int) -> None:
        """`seconds`: the time limit of one attempt with its answer; `bound`: the greatest size of that in bytes."""
        self._target = target
        self._rule = rule
        self._seconds = seconds
        self._bound = bound

    async def post(self, body: bytes) -> Any:
        """Return the decoded answer to a review. Raise ReviewFailed."""
        try:
            reply = await self._target.post(body, self._seconds, self._bound)
        except Reset as e:
            raise ReviewFailed(str(e), again=True) from None
        except Unreachable as e:
            raise ReviewFailed(str(e), late=str(e).endswith(LATE)) from None
        try:
            found = await bounds.decode_json(reply.body)
        except orjson.JSONDecodeError:
            found = None
            if is_success(reply.status):
                raise ReviewFailed("couldn't get version/kind; json parse error: invalid JSON") from None
        if not is_success(reply.status):
            raise self._rule.failure(reply, found)
        return found

    def retire(self) -> None:
        """Close the connections once the calls in flight have ended."""
        self._target.retire()

    async def close(self) -> None:
        """Close the connections."""
        await self._target.close()


async def send(
    connections: Connections,
    endpoint: Endpoint,
    services: Services,
    body: bytes,
    bound: int,
    authorization: str = "",
    seconds: float | None = None,
) -> Reply:
    """Post a review to a webhook that an object names; return its answer. Raise TimeoutError and Unreachable.

    `authorization`: the header for its server, empty for none; `seconds`: the time limit, if the caller has none.
    """
    headers = {"Content-Type": "application/json", "Accept": "application/json, */*"}
    if authorization:
        headers["Authorization"] = authorization
    where = ""
    try:
        url = endpoint.connect(services)
        where = urlsplit(url).netloc
        async with (
            connections.call() as session,
            session.post(
                url,
                data=body,
                headers=headers,
                server_hostname=endpoint.host,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=seconds),
            ) as answer,
        ):
            data = await bounds.read(answer, bound)
            kind, later = answer.headers.get("Content-Type", ""), answer.headers.get("Retry-After", "")
            return Reply(answer.status, data, kind, later)
    except TimeoutError:
        raise
    except (Unreachable, bounds.TooLarge) as e:
        raise Unreachable(post_failure(endpoint, str(e))) from None
    except (aiohttp.ClientError, OSError, ValueError) as e:
        raise Unreachable(post_failure(endpoint, reason(e, where))) from None


def post_failure(endpoint: Endpoint, why: str) -> str:
    """Return Go's text for a call that has no answer (`net/url.Error`)."""
    return f'Post "{endpoint.url}": {why}'


def is_success(status: int) -> bool:
    """Report whether a status is a success to client-go."""
    return 200 <= status <= 206


def retry_after(reply: Reply) -> int | None:
    """Return the seconds after which an answer asks to be called again; None if it does not (`with_retry.go`)."""
    if not (reply.status == 429 or reply.status >= 500):
        return None
    given = reply.retry_after
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else None


def server_error(shown: str) -> str:
    """Return client-go's text for an answer that is no Status."""
    return f'an error on the server ("{shown or "unknown"}") has prevented the request from succeeding'


def body_text(data: bytes) -> str:
    """Return an answer as errors show it; empty for none."""
    return data[:SHOWN].decode(errors="replace").strip()


def response_failure(reply: Reply) -> str:
    """Return client-go's text for an answer that is not a success: the message of a Status precedes."""
    try:
        found = orjson.loads(reply.body)
    except orjson.JSONDecodeError:
        found = None
    if isinstance(found, dict) and found.get("kind") == "Status" and found.get("status") != "Success":
        message = found.get("message")
        if isinstance(message, str):
            return message
    shown = body_text(reply.body) if reply.content_type.startswith("text/") else ""
    if reply.status == 403:
        return shown or "unknown"
    if reply.status in GENERIC:
        return GENERIC[reply.status][1]
    if reply.status >= 500:
        return server_error(shown)
    return f"the server responded with the status code {reply.status} but did not return more information"
