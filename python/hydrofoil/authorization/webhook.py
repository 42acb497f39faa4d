"""The authorizer Webhook: another server decides (apiserver `plugin/pkg/authorizer/webhook`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable

from msgspec import Struct

from hydrofoil.authorization import reviews
from hydrofoil.authorization.conditions import Conditions
from hydrofoil.authorization.metrics import Metrics
from hydrofoil.clock import Clock, stopwatch
from hydrofoil.go_text import format_duration
from hydrofoil.outbound.review import AUTHORIZATION, Backoff, Review, ReviewFailed
from hydrofoil.outbound.target import Target
from hydrofoil.request import NO_OPINION, RequestInfo, Rules, User, Verdict

MOST_DECISIONS = 8192
"""The greatest number of decisions; the one that was not used for longest is removed first."""


class DecisionCache:
    """Decisions by their reviews."""

    __slots__ = ("_clock", "_entries")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[bytes, tuple[float, Verdict]] = {}
        """In the order of their use; the time of the end is in seconds since 1970."""

    def get(self, key: bytes) -> Verdict | None:
        """Return a decision that is still good."""
        found = self._entries.pop(key, None)
        if found is None or found[0] <= self._clock.seconds():
            return None
        self._entries[key] = found
        return found[1]

    def put(self, key: bytes, verdict: Verdict, seconds: float) -> None:
        """Keep a decision for some seconds."""
        if seconds <= 0:
            return
        entries = self._entries
        entries.pop(key, None)
        if len(entries) >= MOST_DECISIONS:
            del entries[next(iter(entries))]
        entries[key] = (self._clock.seconds() + seconds, verdict)

    def __len__(self) -> int:
        return len(self._entries)


LOG = logging.getLogger("hydrofoil")
BOUND = 1 << 20
"""The greatest size of an answer, in bytes. Upstream has no bound."""
BACKOFF = Backoff()
"""The attempts (`DefaultRetryBackoff`, without its jitter)."""


class Settings(Struct, frozen=True):
    """The reviews of a webhook, and the effect of its errors."""

    name: str
    version: str = "v1"
    """The version of its reviews."""
    allowed_ttl: float = 300.0
    """How long a permission is kept, in seconds; 0: not at all."""
    refused_ttl: float = 30.0
    """How long any other answer is kept."""
    deny: bool = False
    """Whether an error refuses, instead of leaving the decision to the next authorizer."""


def review_of(target: Target, seconds: float) -> Review:
    """Return the reviews of a server; `seconds`: the time limit of a call, which the server learns from the query."""
    target.url += f"{'&' if '?' in target.url else '?'}timeout={format_duration(seconds)}"
    return Review(target, AUTHORIZATION, seconds, BOUND)


class Webhook:
    """One webhook, and its answers of the last minutes."""

    def __init__(
        self, settings: Settings, client: Review, conditions: Conditions, clock: Clock, metrics: Metrics
    ) -> None:
        self._settings = settings
        self._client = client
        self._conditions = conditions
        self._clock = clock
        self._metrics = metrics
        self._decisions = DecisionCache(clock)

    def rules(self, user: User, namespace: str) -> Rules:
        """Return no rules: a webhook cannot list them."""
        return Rules(incomplete=True, error="webhook authorizer does not support user rule resolution")

    def standing(self, user: User, info: RequestInfo) -> None:
        """Return None: another process decides."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        """Return the decision on a request; an awaitable only where the webhook must be asked."""
        review = reviews.spec(user, info)
        try:
            held = self._conditions.hold(review)
        except ValueError as e:
            return self._failed(str(e))
        if not isinstance(held, bool):
            return self._decide(held, review, info)
        return self._decision(review, info) if held else NO_OPINION

    async def _decide(self, held: Awaitable[bool], review: reviews.Object, info: RequestInfo) -> Verdict:
        try:
            if not await held:
                return NO_OPINION
        except ValueError as e:
            return self._failed(str(e))
        found = self._decision(review, info)
        return found if isinstance(found, Verdict) else await found

    def _decision(self, review: reviews.Object, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        key = reviews.key_of(review)
        found = self._decisions.get(key)
        return self._ask(review, key, info) if found is None else found

    def _failed(self, error: str) -> Verdict:
        return Verdict(denied=self._settings.deny, error=error)

    async def _ask(self, review: reviews.Object, key: bytes, info: RequestInfo) -> Verdict:
        settings = self._settings
        body = reviews.body(review, settings.version)
        for wait in BACKOFF.pauses():
            try:
                verdict = await self._once(body)
            except ReviewFailed as e:
                if wait is None or not e.again:
                    LOG.error("Failed to make webhook authorizer request: %s", e)
                    if not settings.deny:
                        self._metrics.failed_open(settings.name, _result(e))
                    return self._failed(str(e))
                await self._clock.machine.sleep(wait)
            else:
                break
        # A refusal with an error is kept as well: it is an answer.
        if reviews.may_be_kept(info) and len(verdict.reason) < reviews.LONGEST:
            self._decisions.put(key, verdict, settings.allowed_ttl if verdict.allowed else settings.refused_ttl)
        return verdict

    async def _once(self, body: bytes) -> Verdict:
        """Ask once. Raise ReviewFailed."""
        settings = self._settings
        begun = stopwatch()
        result = "success"
        try:
            try:
                return reviews.verdict(await self._client.post(body), settings.version)
            except ValueError as e:
                raise ReviewFailed(str(e)) from None
        except ReviewFailed as e:
            result = _result(e)
            raise
        except asyncio.CancelledError:
            result = "canceled"
            raise
        finally:
            self._metrics.asked(settings.name, result, stopwatch() - begun)

    def close(self) -> None:
        """Close the connections once the calls in flight have ended."""
        self._client.retire()


def _result(failure: ReviewFailed) -> str:
    """Return the label of a failure in metrics."""
    return "timeout" if failure.late else "error"
