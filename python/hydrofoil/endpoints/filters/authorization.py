"""The rights of a user to a request."""

from __future__ import annotations

from collections.abc import Awaitable

from hydrofoil.answer import Answer, plain
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.errors import quoted
from hydrofoil.request import ALLOWED, ALWAYS_ALLOW, Authorizer, Verdict, refusal

UNSAFE = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def authorization(authorizer: Authorizer, others: Authorizer) -> Filter:
    """Answer 403 where the user lacks the right (`WithAuthorization`); `others` decides on users acted as."""

    def decide(context: Context, inner: Handler) -> Awaitable[Answer]:
        verdict = authorizer.authorize(context.user, context.info)
        if not isinstance(verdict, Verdict):
            return _waiting(context, inner, verdict)
        if context.audit is not None:
            context.audit.decided(verdict)
        return inner(context) if verdict.allowed else _refused(context, verdict)

    def decide_on_others(context: Context, inner: Handler) -> Awaitable[Answer]:
        if context.user is context.caller:
            if context.audit is not None:
                context.audit.decided(ALLOWED)
            return inner(context)
        verdict = others.authorize(context.user, context.info)
        if not isinstance(verdict, Verdict):
            return _waiting(context, inner, verdict)
        if context.audit is not None:
            context.audit.decided(verdict)
        return inner(context) if verdict.allowed else _refused(context, verdict)

    return decide_on_others if authorizer is ALWAYS_ALLOW else decide


async def _waiting(context: Context, inner: Handler, waits: Awaitable[Verdict]) -> Answer:
    verdict = await waits
    if context.audit is not None:
        context.audit.decided(verdict)
    return await inner(context) if verdict.allowed else await _refused(context, verdict)


async def _refused(context: Context, verdict: Verdict) -> Answer:
    if verdict.error:
        return internal_error(context, verdict.error)
    return respond.refused(context, refusal(context.user, context.info, verdict.reason))


def internal_error(context: Context, why: str) -> Answer:
    """Return the 500 for an error on the way to a decision (`responsewriters.InternalError`)."""
    text = f"Internal Server Error: {quoted(context.target)}: {why}".translate(UNSAFE)
    return plain(500, text + "\n", context.common)
