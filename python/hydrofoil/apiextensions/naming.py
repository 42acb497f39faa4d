"""The status of custom resource definitions: accepted names, whether they are served, and approval."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import orjson

from hydrofoil.apis.custom import condition, holds
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft
from hydrofoil.registry.conversion import bundle_problem
from hydrofoil.registry.strategies.base import now

Definition = dict[str, Any]
Condition = tuple[str, str, str, str]
"""Type, status, reason, message."""
Change = Callable[[Draft, Clock], None]
Taken = tuple[set[str], set[str]]
"""The names of resources and of kinds that are in use in a group."""
NONSTRUCTURAL = "NonStructuralSchema"
APPROVAL = "api-approved.kubernetes.io"
PULL = "see https://github.com/kubernetes/enhancements/pull/1111"
NAMES = (
    ("plural", 0, "PluralConflict"),
    ("singular", 0, "SingularConflict"),
    ("shortNames", 0, "ShortNamesConflict"),
    ("kind", 1, "KindConflict"),
    ("listKind", 1, "ListKindConflict"),
)
"""Each name, among which names it must be free, and the reason when it is not; the last that is taken is told."""


def put(draft: Draft, given: Condition, clock: Clock) -> None:
    """Sets a condition; its time is that of its last change of status (`SetCRDCondition`)."""
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
    """Whether a condition stands as given."""
    old = condition(definition, given[0])
    return old is not None and (old["type"], old["status"], old["reason"], old["message"]) == given


def _clash(wanted: Any, own: Any, used: set[str]) -> str:
    """Why a name, or one of a list of names, cannot be had; empty when it can."""
    if isinstance(wanted, list):
        texts = [text for name in wanted if name not in (own or ()) and (text := _clash(name, "", used))]
        return texts[0] if len(texts) < 2 and texts else f"[{', '.join(texts)}]" if texts else ""
    return f'"{wanted}" is already in use' if wanted != own and wanted in used else ""


def bundle(definition: Definition) -> bytes:
    """The caBundle of a conversion webhook."""
    conversion = definition["spec"].get("conversion", {})
    client = conversion.get("webhookClientConfig") or conversion.get("webhook", {}).get("clientConfig", {})
    return base64.b64decode(client.get("caBundle") or "")


def established(definition: Definition) -> Condition:
    """What is said once the names are accepted (`establishing_controller.go`)."""
    if bundle_problem(bundle(definition)):
        return "Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"
    # Upstream writes that it is being installed first, and that it is established next.
    return "Established", "True", "InitialNamesAccepted", "the initial names have been accepted"


def establish(definition: Definition) -> Change | None:
    """What changes of the condition Established once names are accepted; None when nothing does."""
    if not holds(definition, "NamesAccepted") or holds(definition, "Established"):
        return None
    verdict = established(definition)
    return None if same(definition, verdict) else lambda draft, clock: put(draft, verdict, clock)


def names(definition: Definition, taken: Taken) -> Change | None:
    """What changes of the accepted names (`calculateNamesAndConditions`); None when nothing does."""
    wanted, before = definition["spec"]["names"], definition.get("status", {}).get("acceptedNames", {})
    accepted = {k: v for k, v in before.items() if v}
    verdict: Condition = ("NamesAccepted", "True", "NoConflicts", "no conflicts found")
    for key, which, reason in NAMES:
        if why := _clash(wanted.get(key), before.get(key), taken[which]):
            verdict = ("NamesAccepted", "False", reason, why)
        else:
            accepted[key] = wanted.get(key)
    accepted["categories"] = wanted.get("categories")
    accepted = {k: v for k, v in accepted.items() if v}
    if same(definition, verdict) and accepted == {k: v for k, v in before.items() if v}:
        return None
    refused = verdict[1] == "False"
    told = condition(definition, "Established")

    def change(draft: Draft, clock: Clock) -> None:
        draft.set(["status", "acceptedNames"], orjson.dumps(accepted))
        put(draft, verdict, clock)
        if told is None and refused:
            put(draft, ("Established", "False", "NotAccepted", "not all names are accepted"), clock)
        elif not refused and not holds(definition, "Established"):
            put(draft, established(definition), clock)

    return change


def approval(definition: Definition) -> Change | None:
    """Whether a protected group was approved (`apiapproval_controller.go`, `pkg/apihelpers`)."""
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
    """What changes of the condition that schemas are not structural, by the reason and message there are for it; None
    when nothing does (`nonstructuralschema_controller.go`)."""
    if problem is not None:
        verdict: Condition = (NONSTRUCTURAL, "True", *problem)
        return None if same(definition, verdict) else lambda draft, clock: put(draft, verdict, clock)
    if condition(definition, NONSTRUCTURAL) is None:
        return None

    def remove(draft: Draft, _: Clock) -> None:
        conditions = orjson.loads(draft.get(["status", "conditions"]) or b"[]")
        draft.set(["status", "conditions"], orjson.dumps([c for c in conditions if c["type"] != NONSTRUCTURAL]))

    return remove
