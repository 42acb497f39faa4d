"""The status of custom resource definitions: accepted names, established, approval."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import orjson

from hydrofoil.apiextensions.resources import condition, holds
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft
from hydrofoil.outbound.trust import bundle_problem
from hydrofoil.registry.strategy import now

Definition = dict[str, Any]
Condition = tuple[str, str, str, str]
"""Type, status, reason, message."""
Change = Callable[[Draft, Clock], None]
NONSTRUCTURAL = "NonStructuralSchema"
APPROVAL = "api-approved.kubernetes.io"
PULL = "see https://github.com/kubernetes/enhancements/pull/1111"


def put(draft: Draft, given: Condition, clock: Clock) -> None:
    """Set a condition; its time is that of its last change of status (`SetCRDCondition`)."""
    kind, status, reason, message = given
    conditions: list[dict[str, Any]] = orjson.loads(draft.get(["status", "conditions"]) or b"[]")
    found = next((c for c in conditions if c["type"] == kind), None)
    if found is None:
        found = {"type": kind}
        conditions.append(found)
    if found.get("status") != status or not found.get("lastTransitionTime"):
        found["lastTransitionTime"] = orjson.loads(now(clock))
    found |= {"status": status, "reason": reason, "message": message}
    draft.set(["status", "conditions"], orjson.dumps(conditions))


def same(definition: Definition, given: Condition) -> bool:
    """Report whether a condition is as given."""
    old = condition(definition, given[0])
    return old is not None and (old["type"], old["status"], old["reason"], old["message"]) == given


def bundle(definition: Definition) -> bytes:
    """Return the caBundle of a conversion webhook."""
    conversion = definition["spec"].get("conversion", {})
    client = conversion.get("webhookClientConfig") or conversion.get("webhook", {}).get("clientConfig", {})
    return base64.b64decode(client.get("caBundle") or "")


ESTABLISHED: Condition = ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")


def established_condition(definition: Definition) -> Condition:
    """Return the condition that follows the acceptance of names (`establishing_controller.go`)."""
    if bundle_problem(bundle(definition)):
        return "Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"
    # Upstream writes the condition Installing first, and Established next.
    return ESTABLISHED


def establish(definition: Definition) -> Change | None:
    """Return the change of the condition Established once names are accepted; None if it is unchanged."""
    if not holds(definition, "NamesAccepted") or holds(definition, "Established"):
        return None
    verdict = established_condition(definition)
    return None if same(definition, verdict) else lambda draft, clock: put(draft, verdict, clock)


def approval(definition: Definition) -> Change | None:
    """Return the change of the approval of a protected group (`apiapproval_controller.go`, `pkg/apihelpers`)."""
    group = definition["spec"]["group"]
    if not f".{group}".endswith((".k8s.io", ".kubernetes.io")):
        return None
    given = definition["metadata"].get("annotations", {}).get(APPROVAL, "")
    needed = f'protected groups must have approval annotation "{APPROVAL}"'
    if given.startswith("unapproved"):
        found = ("False", "UnapprovedAnnotation", f'not approved: "{given}"')
    elif "://" in given:
        found = ("True", "ApprovedAnnotation", f"approved in {given}")
    elif given:
        why = f'{needed} with either a URL or a reason starting with "unapproved", {PULL}'
        found = ("False", "InvalidAnnotation", why)
    else:
        found = ("False", "MissingAnnotation", f"{needed}, {PULL}")
    verdict: Condition = ("KubernetesAPIApprovalPolicyConformant", *found)
    return None if same(definition, verdict) else lambda draft, clock: put(draft, verdict, clock)


def structural(definition: Definition, problem: tuple[str, str] | None) -> Change | None:
    """Return the change of the condition that schemas are not structural, by the given reason and message; None if it
    is unchanged (`nonstructuralschema_controller.go`)."""
    if problem is not None:
        verdict: Condition = (NONSTRUCTURAL, "True", *problem)
        return None if same(definition, verdict) else lambda draft, clock: put(draft, verdict, clock)
    if condition(definition, NONSTRUCTURAL) is None:
        return None

    def remove(draft: Draft, _: Clock) -> None:
        conditions = orjson.loads(draft.get(["status", "conditions"]) or b"[]")
        draft.set(["status", "conditions"], orjson.dumps([c for c in conditions if c["type"] != NONSTRUCTURAL]))

    return remove
