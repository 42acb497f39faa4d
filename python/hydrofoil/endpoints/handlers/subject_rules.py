"""The rules of a user, as SelfSubjectRulesReview shows them."""

from __future__ import annotations

from typing import Any

from hydrofoil.endpoints.context import Context
from hydrofoil.request import Rules

MASTERS = "system:masters"


async def rules(context: Context, namespace: str) -> dict[str, Any]:
    """Return the status of a SelfSubjectRulesReview (`selfsubjectrulesreview/rest.go`)."""
    # The rules of an administrator are those of its role, even where nothing asks for them.
    authorizer = context.parts.others if MASTERS in context.user.groups else context.authorizer
    made = authorizer.rules(context.user, namespace)
    found = made if isinstance(made, Rules) else await made
    status: dict[str, Any] = {
        "resourceRules": found.resources,
        "nonResourceRules": found.urls,
        "incomplete": found.incomplete,
    }
    if found.error:
        status["evaluationError"] = found.error
    return status
