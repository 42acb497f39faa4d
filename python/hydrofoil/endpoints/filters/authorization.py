"""The rights of a user to a request."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial

from hydrofoil.answer import Answer, plain
from hydrofoil.clock import stopwatch
from hydrofoil.counting import Histogram
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler, MemoDraft
from hydrofoil.endpoints.filters.authentication import TIMES
from hydrofoil.go_text import HTML_ESCAPES, quote
from hydrofoil.request import ALLOWED, ALWAYS_ALLOW, Authorizer, Verdict, refusal


class Decisions:
    """The decisions by result (apiserver `pkg/endpoints/filters/metrics.go`)."""

    def __init__(self) -> None:
        self.seconds = {result: Histogram(TIMES) for result in ("allowed", "denied", "no-opinion", "error")}
        """The durations."""
        self.allowed = self.seconds["allowed"]
        self.waived = 0
        """The number of requests that were allowed without a look, since every caller may do everything."""

    def waive(self, times: int) -> None:
        """Count requests that were allowed without a look."""
        self.waived += times

    def copy(self) -> Decisions:
        """Return the present state."""
        found = Decisions()
        found.seconds, found.waived = {result: row.copy() for result, row in self.seconds.items()}, self.waived
        found.allowed = found.seconds["allowed"]
        return found

    def count(self, verdict: Verdict, seconds: float) -> None:
        """Count a decision."""
        if verdict.allowed:
            self.allowed.observe(seconds)
        else:
            result = "error" if verdict.error else "denied" if verdict.denied else "no-opinion"
            self.seconds[result].observe(seconds)


def authorization(authorizer: Authorizer, others: Authorizer, decisions: Decisions | None = None) -> Filter:
    """Answer 403 where the user lacks the right (`WithAuthorization`); `others` decides on users acted as."""
    counted = decisions or Decisions()

    def decide(context: Context, inner: Handler) -> Awaitable[Answer]:
        begun = stopwatch()
        verdict = authorizer.authorize(context.user, context.info)
        if not isinstance(verdict, Verdict):
            return _waiting(context, inner, verdict, counted)
        counted.count(verdict, stopwatch() - begun)
        if context.audit is not None:
            context.audit.verdict = verdict
        if context.memo is not None:
            _note(context, context.memo, authorizer, counted)
        return inner(context) if verdict.allowed else _refuse(context, verdict)

    def decide_on_others(context: Context, inner: Handler) -> Awaitable[Answer]:
        if context.user is context.caller:
            counted.waived += 1
            if context.memo is not None:
                context.memo.authorized = True
                context.memo.counts.append(counted.waive)
            if context.audit is not None:
                context.audit.verdict = ALLOWED
            return inner(context)
        begun = stopwatch()
        verdict = others.authorize(context.user, context.info)
        if not isinstance(verdict, Verdict):
            return _waiting(context, inner, verdict, counted)
        counted.count(verdict, stopwatch() - begun)
        if context.audit is not None:
            context.audit.verdict = verdict
        return inner(context) if verdict.allowed else _refuse(context, verdict)

    return decide_on_others if authorizer is ALWAYS_ALLOW else decide


def _note(context: Context, memo: MemoDraft, authorizer: Authorizer, counted: Decisions) -> None:
    """Add a decision to the memo of a request."""
    standing = authorizer.standing(context.user, context.info)
    if standing is None or not standing.allowed:
        context.memo = None
        return
    memo.authorized = True
    memo.counts.append(partial(counted.allowed.observe, 0.0))
    memo.counts += standing.counts


async def _waiting(context: Context, inner: Handler, waits: Awaitable[Verdict], counted: Decisions) -> Answer:
    begun = stopwatch()
    context.memo = None
    verdict = await waits
    counted.count(verdict, stopwatch() - begun)
    if context.audit is not None:
        context.audit.verdict = verdict
    return await inner(context) if verdict.allowed else await _refuse(context, verdict)


async def _refuse(context: Context, verdict: Verdict) -> Answer:
    if verdict.error:
        return internal_error(context, verdict.error)
    return respond.answer_error(context, refusal(context.user, context.info, verdict.reason))


def internal_error(context: Context, why: str) -> Answer:
    """Return the 500 for an error on the way to a decision (`responsewriters.InternalError`)."""
    text = f"Internal Server Error: {quote(context.target)}: {why}".translate(HTML_ESCAPES)
    return plain(500, text + "\n", context.common)
