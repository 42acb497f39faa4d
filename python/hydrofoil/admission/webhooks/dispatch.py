"""The common part of mutating and validating webhooks: their choice and their calls."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from msgspec import Struct

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.matching.conditions import ConditionError
from hydrofoil.admission.matching.questions import Questions
from hydrofoil.admission.matching.target import Equivalents, Target
from hydrofoil.admission.matching.versioned_request import VersionedRequest
from hydrofoil.admission.webhooks.calls import CallFailed, Calls
from hydrofoil.admission.webhooks.hook import Hook
from hydrofoil.admission.webhooks.metrics import Metrics
from hydrofoil.admission.webhooks.reviews import Denied, NotDecoded, NotValid, Reply, body, reply
from hydrofoil.clock import Chance, stopwatch
from hydrofoil.go_text import quote
from hydrofoil.registry.objects import Objects

LOG = logging.getLogger("hydrofoil")
DRY_RUN_SAFE = ("None", "NoneOnDryRun")


class Parts(Struct):
    """The parts of a server that calls use."""

    objects: Objects
    calls: Calls
    chance: Chance
    metrics: Metrics
    equivalents: Equivalents
    rehearses: bool = False
    """Whether every write is a dry run for a webhook."""


class Round:
    """The webhooks of one kind for one request."""

    kind: str
    """The name of the phase in metrics."""
    mutating: bool

    def __init__(self, parts: Parts, a: Attributes) -> None:
        self.parts = parts
        self.a = a
        self.seen = VersionedRequest(a, parts.objects)
        self.questions = Questions(a)

    async def wanted(self, hook: Hook) -> Target | None:
        """Return the form in which a webhook wants the request (`ShouldCallHook`). Raise ApiError 403, 404 and 500."""
        at = hook.chosen(self.seen, self.parts.equivalents)
        if at is None or not hook.conditions:
            return at
        begun = stopwatch()
        try:
            holds, failed = await hook.matching().hold(self.seen, at, self.questions)
        except ConditionError as e:
            self.parts.metrics.matched(hook.name, self.kind, self.a.operation, stopwatch() - begun, failed=1)
            raise self.a.forbidden(str(e)) from None
        self.parts.metrics.matched(hook.name, self.kind, self.a.operation, stopwatch() - begun, failed=failed)
        if not holds:
            self.parts.metrics.excluded(hook.name, self.kind, self.a.operation)
            return None
        return at

    async def ask(self, hook: Hook, at: Target) -> Reply:
        """Return the checked answer of a webhook. Raise CallFailed, Denied and ApiError."""
        dry_run = self.a.dry_run or self.parts.rehearses
        if dry_run and hook.side_effects not in DRY_RUN_SAFE:
            text = f"admission webhook {quote(hook.name)} does not support dry run"
            raise errors.bad_request(text)
        if not hook.version:
            raise CallFailed(
                "could not create admission objects: webhook does not accept known AdmissionReview versions", 400
            )
        new, old = await self.seen.forms(at.kind)
        uid = self.parts.chance.uid()
        request = {**self.seen.request(at), "dryRun": dry_run}
        answer: Any = await self.parts.calls.post(hook, body(hook.version, uid, request, new, old))
        try:
            found = reply(answer, hook.version, uid, mutating=self.mutating)
        except NotDecoded as e:
            raise CallFailed(f"failed to call webhook: {e}") from None
        except NotValid as e:
            raise CallFailed(f"received invalid webhook response: {e}") from None
        for key, value in found.annotations.items():
            self.a.annotate(f"{hook.name}/{key}", value)
        for warning in found.warnings:
            # Others are no header.
            if warning and all(c >= " " and c != "\x7f" for c in warning):
                self.a.warn(warning)
        if not found.allowed:
            raise Denied(hook.name, found.status)
        return found

    def observe(self, hook: Hook, seconds: float, error: BaseException | None) -> None:
        """Count a call (`ObserveWebhook`, `ObserveWebhookRejection`)."""
        metrics, operation = self.parts.metrics, self.a.operation
        if error is None:
            metrics.called(hook.name, self.kind, operation, seconds, rejected=False, code=200)
            return
        if isinstance(error, asyncio.CancelledError):
            return
        failed = isinstance(error, CallFailed)
        code = error.code if isinstance(error, CallFailed | errors.ApiError) else 0
        rejected = not (failed and hook.ignore)
        metrics.called(hook.name, self.kind, operation, seconds, rejected=rejected, code=code)
        if rejected:
            what = (
                "calling_webhook_error"
                if failed
                else "no_error"
                if isinstance(error, Denied)
                else "apiserver_internal_error"
            )
            metrics.rejected(hook.name, self.kind, operation, what, code)

    def failed(self, hook: Hook, error: CallFailed, key: str) -> None:
        """Apply the failure policy of a webhook. Raise ApiError 500 unless it is to ignore that."""
        text = f"failed calling webhook {quote(hook.name)}: {error}"
        if not hook.ignore:
            LOG.warning("Failed calling webhook, failing closed %s: %s", hook.name, text)
            details = {"causes": [{"message": text}]}
            raise errors.ApiError(500, "InternalError", f"Internal error occurred: {text}", details)
        LOG.warning("Failed calling webhook, failing open %s: %s", hook.name, text)
        self.parts.metrics.failed_open(hook.name, self.kind)
        self.a.annotate(f"failed-open.{key}", hook.name)


def internal(text: str) -> errors.ApiError:
    """Return the 500 for an error of the server's own work on an answer."""
    return errors.ApiError(500, "InternalError", f"Internal error occurred: {text}", {"causes": [{"message": text}]})
