"""Validating policies (apiserver `pkg/admission/plugin/policy/validating/{dispatcher,validator}.go`)."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from msgspec import Struct, field

from hydrofoil import errors
from hydrofoil.admission.matching.conditions import OUT_OF_BUDGET, ConditionError
from hydrofoil.admission.matching.questions import Found
from hydrofoil.admission.matching.target import Target
from hydrofoil.admission.policies.params import ConfigurationError, Param
from hydrofoil.admission.policies.policy import Binding, ValidatingPolicy
from hydrofoil.admission.policies.round import BUDGET, Round
from hydrofoil.clock import stopwatch

LONGEST_MESSAGE = 5 * 1024
LONGEST_ANNOTATION = 10 * 1024
CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413}
FAILURE = "validation.policy.admission.k8s.io/validation_failure"
Bound = Sequence[tuple[ValidatingPolicy, Sequence[Binding]]]


class Decision(Struct, frozen=True):
    """A refusal by one validation, or an error instead of its result."""

    index: int
    message: str
    reason: str = ""
    error: str = "no_error"
    """The type of the error in metrics."""


class Judgement(Struct):
    """The refusals of one policy for one parameter, and its annotations."""

    decisions: list[Decision] = field(default_factory=list)
    annotations: list[tuple[str, str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """The errors of annotations, which refuse whatever the binding does."""


class Validating(Round):
    """One request."""

    async def run(self, bound: Bound) -> None:
        """Evaluate the policies that cover the request. Raise ApiError: the first refusal."""
        refused: list[tuple[str, str]] = []
        for policy, bindings in bound:
            await self._policy(policy, bindings, refused)
        if refused:
            message, reason = refused[0]
            error = self.a.forbidden(message, [{"message": message}])
            error.reason = reason or "Invalid"
            error.code = CODES.get(error.reason, 422)
            raise error

    async def _policy(
        self, policy: ValidatingPolicy, bindings: Sequence[Binding], refused: list[tuple[str, str]]
    ) -> None:
        head = f"ValidatingAdmissionPolicy '{policy.name}'"
        try:
            at = self.covered(policy)
            if at is None:
                return
            resource = None if policy.kind is None else self.parts.params.resource(policy.kind)
        except (ConfigurationError, errors.ApiError) as e:
            if not policy.ignore:
                refused.append((f"{head} denied request: failed to configure policy: {e}", ""))
            return
        annotations: dict[str, list[str]] = {}
        for binding in bindings:
            head = f"ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}' denied request: "
            try:
                if not self.bound(binding):
                    continue
                params = await self.parts.params.collect(resource, binding.parameters, self.seen.namespace)
            except (ConfigurationError, errors.ApiError) as e:
                if not policy.ignore:
                    refused.append((f"{head}failed to configure binding: {e}", ""))
                continue
            for param in params:
                begun = stopwatch()
                judged = await self._judge(policy, at, param)
                spent = stopwatch() - begun
                for decision in judged.decisions:
                    self._act(policy, binding, decision, head, spent, refused)
                for key, value in judged.annotations:
                    values = annotations.setdefault(key, [])
                    if value not in values:
                        values.append(value)
                refused.extend((head + why, "") for why in judged.failed)
        for key, values in annotations.items():
            self.a.annotate(f"{policy.name}/{key}", ", ".join(values))

    def _act(
        self,
        policy: ValidatingPolicy,
        binding: Binding,
        decision: Decision,
        head: str,
        seconds: float,
        refused: list[tuple[str, str]],
    ) -> None:
        """Do as a binding requires with a refusal."""
        for action in binding.actions:
            if action == "Deny":
                refused.append((head + decision.message, decision.reason))
            elif action == "Warn":
                subject = f"ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}'"
                self.a.warn(f"Validation failed for {subject}: {decision.message}")
            elif action == "Audit" and self.a.audit is not None:
                failure = {
                    "message": decision.message,
                    "policy": policy.name,
                    "binding": binding.name,
                    "expressionIndex": decision.index,
                    "validationActions": binding.actions,
                }
                self.a.annotate(FAILURE, orjson.dumps([failure]).decode())
            self.parts.metrics.checked(policy.name, binding.name, action.lower(), decision.error, seconds)

    async def _judge(self, policy: ValidatingPolicy, at: Target, param: Param | None) -> Judgement:
        """Evaluate a policy for one parameter."""
        document = None if param is None else param.document
        if (conditions := policy.conditions()) is not None:
            try:
                holds, _ = await conditions.hold(self.seen, at, self.questions, document)
            except ConditionError as e:
                return Judgement([Decision(0, str(e), error="invalid_error")])
            if not holds:
                return Judgement()
        validations, messages, annotations = policy.expressions()
        found, left = await self.evaluate(policy, validations, at, param, BUDGET)
        if left < 0:
            return _budget_exceeded(policy)
        judged = Judgement()
        texts: Found = []
        wrong = any(value != b"true" for value, _ in found)
        if messages is not None and (wrong or policy.costly):
            texts, left = await self.evaluate(policy, messages, at, param, left)
        spent = f"failed messageExpression: {OUT_OF_BUDGET}" if left < 0 else None
        for index, (value, failed) in enumerate(found):
            why = failed or spent
            if why is not None:
                if not policy.ignore:
                    judged.decisions.append(Decision(index, why, error="invalid_error"))
            elif value != b"true":
                validation = policy.validations[index]
                text = _message(texts[index][0] if index < len(texts) else None)
                text = text or validation.get("message", "").strip()
                text = text or f"failed expression: {validation['expression'].strip()}"
                judged.decisions.append(Decision(index, text, validation.get("reason") or "Invalid"))
        if annotations is not None:
            values, left = await self.evaluate(policy, annotations, at, param, BUDGET)
            if left < 0:
                return _budget_exceeded(policy)
            self._annotate(policy, values, judged)
        return judged

    def _annotate(self, policy: ValidatingPolicy, values: Found, judged: Judgement) -> None:
        for annotation, (value, why) in zip(policy.annotations, values, strict=True):
            if why is not None:
                judged.failed += [] if policy.ignore else [why]
                continue
            text = orjson.loads(value or b"null")
            if isinstance(text, str) and (text := text.strip()):
                judged.annotations.append((annotation["key"], text[:LONGEST_ANNOTATION]))


def _budget_exceeded(policy: ValidatingPolicy) -> Judgement:
    return Judgement([] if policy.ignore else [Decision(0, OUT_OF_BUDGET, error="out_of_budget")])


def _message(value: bytes | None) -> str:
    """Return the result of a message expression, unless it cannot be used."""
    text = orjson.loads(value) if value is not None else ""
    if not isinstance(text, str):
        return ""
    text = text.strip()
    return text if len(text.encode()) <= LONGEST_MESSAGE and "\n" not in text else ""
