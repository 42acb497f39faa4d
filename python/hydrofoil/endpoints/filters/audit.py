"""The audit record of a request (apiserver `pkg/endpoints/filters/audit.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial

from hydrofoil.answer import Answer, Outcome
from hydrofoil.audit.event import CLOSED_EARLY, AuditEvent
from hydrofoil.audit.level import COMPLETE, PANIC, RECEIVED, STARTED
from hydrofoil.audit.service import Audit, Delivered
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.endpoints.filters.authorization import internal_error

PATIENCE = 1.0
"""The seconds that an answer waits for its records, at most."""
SLOW = 500_000_000
"""The nanoseconds above which a record has its latency."""


def audit(auditing: Audit) -> Filter:
    """Record each request that the policy chooses (`WithAudit`)."""

    def record(context: Context, inner: Handler) -> Awaitable[Answer]:
        event = auditing.begin(context, context.caller)
        if event is None:
            return inner(context)
        context.audit = event
        results = auditing.emit(event, RECEIVED, waits=True)
        if auditing.waits and (results or auditing.blocks):
            return _waiting(auditing, event, results, context, inner)
        _follow(auditing, event, context)
        return inner(context)

    return record


def unauthenticated(auditing: Audit) -> Filter:
    """Record a request whose user is unknown, right before its refusal (`WithFailedAuthenticationAudit`)."""

    def record(context: Context, inner: Handler) -> Awaitable[Answer]:
        event = context.audit = auditing.begin(context, None)
        if event is not None:

            def started(answer: Answer) -> None:
                auditing.emit(event, STARTED, answer.status)

            context.at_start(started)
        return inner(context)

    return record


def _follow(auditing: Audit, event: AuditEvent, context: Context) -> None:
    """Record the start of a long-running answer, and the end of each."""

    lasting = context.info.lasting
    if lasting:

        def started(answer: Answer) -> None:
            auditing.emit(event, STARTED, answer.status)

        context.at_start(started)
    context.at_end(partial(finish, auditing, event, context, lasting))


def finish(auditing: Audit, event: AuditEvent, context: Context, lasting: bool, outcome: Outcome) -> None:
    """Record the end of a request."""
    code = outcome.status
    mark_deprecated(event, context)
    if not outcome.whole and not event.fault and event.status is None and code == 500:
        # Nothing was written: the client has disconnected.
        event.status, code = CLOSED_EARLY, 200
        if lasting:
            auditing.emit(event, STARTED, code)
    at = auditing.clock.nanoseconds()
    if not lasting and (took := at - event.received) > SLOW:
        event.annotate("apiserver.latency.k8s.io/total", f"{took / 1e9:.6f}s")
    auditing.emit(event, PANIC if event.fault else COMPLETE, code, at)


def mark_deprecated(event: AuditEvent, context: Context) -> None:
    """Annotate the end of a request that a handler of a deprecated kind answered (`MonitorRequest`).

    A record of the start precedes it, and a handler that failed never reaches it.
    """
    resource = context.served
    if resource is None or event.fault or not context.counted or not resource.deprecates(context.info.subresource):
        return
    event.annotate("k8s.io/deprecated", "true")
    if removed := resource.raw.get("lifecycle", {}).get("removed"):
        event.annotate("k8s.io/removed-release", removed)


async def _waiting(
    auditing: Audit, event: AuditEvent, results: Sequence[Delivered], context: Context, inner: Handler
) -> Answer:
    """Answer once the records are delivered: where a mode asks for that, and the webhook is well."""
    if not await _delivered(results):
        auditing.counts.rejected += 1
        context.audit = None
        return internal_error(context, "failed to store audit event")
    if not auditing.blocks or context.info.lasting:
        _follow(auditing, event, context)
        return await inner(context)
    try:
        answer = await inner(context)
    except BaseException:
        _follow(auditing, event, context)
        raise
    if answer.stream is not None:
        _follow(auditing, event, context)
        return answer
    mark_deprecated(event, context)
    await _delivered(auditing.emit(event, PANIC if event.fault else COMPLETE, answer.status, waits=True))
    return answer


async def _delivered(results: Sequence[Delivered]) -> bool:
    """Wait for deliveries, but not for long; return False if one failed without which a request is refused."""
    if not results:
        return True
    done, _ = await asyncio.wait([result for _, result in results], timeout=PATIENCE)
    return all(result in done and result.result() for strict, result in results if strict)
