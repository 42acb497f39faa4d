"""Match conditions of webhooks and policies (apiserver `pkg/admission/plugin/webhook/matchconditions`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydrofoil.admission.matching.questions import Questions
from hydrofoil.admission.matching.target import Target
from hydrofoil.admission.matching.versioned_request import NO_REQUEST, VersionedRequest
from hydrofoil.engine import Document, Expressions
from hydrofoil.errors import aggregate

BUDGET = 2_500_000
"""The most that the conditions of one webhook or policy may cost (`RuntimeCELCostBudgetMatchConditions`)."""
OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class ConditionError(Exception):
    """A condition without a result, where the failure policy is not to ignore that."""


class Conditions:
    """The conditions of one webhook or policy, compiled once."""

    def __init__(self, listed: Sequence[dict[str, Any]], *, params: bool = False, ignore: bool) -> None:
        """`ignore`: an error means that the conditions do not hold."""
        self._expressions = Expressions(
            [condition.get("expression", "") for condition in listed], params=params, authorizer=True
        )
        self._ignore = ignore
        self._names_request = any("request" in condition.get("expression", "") for condition in listed)
        self.count = len(listed)

    async def hold(
        self, seen: VersionedRequest, at: Target, questions: Questions, params: Document | None = None
    ) -> tuple[bool, int]:
        """Report whether all hold, and how many had no result; one that is false decides. Raise ConditionError."""
        new, old = await seen.documents(at.kind)
        request = seen.reviewed(at) if self._names_request else NO_REQUEST
        found, left = await questions.evaluate(self._expressions, request, new, old, None, params, BUDGET)
        if left < 0:
            if self._ignore:
                return False, 0
            raise ConditionError(OUT_OF_BUDGET)
        failed = [why for _, why in found if why is not None]
        if any(value == b"false" for value, _ in found):
            return False, len(failed)
        if not failed:
            return True, 0
        if self._ignore:
            return False, len(failed)
        raise ConditionError(aggregate(failed))
