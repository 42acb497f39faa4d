"""What a change of policies may concern: the objects of other resources need not be tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hydrofoil.cli.rehearse.probes import OPERATIONS
from hydrofoil.cli.rehearse.webhooks import KINDS
from hydrofoil.controls.documents import Document

POLICIES = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
BINDINGS = ("ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding")
VERBS = {"UPDATE": "update", "CREATE": "create", "DELETE": "delete"}


class Scope:
    """Resources and operations; no resources are all of them."""

    def __init__(self, resources: frozenset[str], operations: Sequence[str]) -> None:
        self._resources = resources
        self.operations = operations

    def concerns(self, plural: str) -> bool:
        """Report whether objects of a resource are concerned."""
        return not self._resources or plural in self._resources


EVERYTHING = Scope(frozenset(), OPERATIONS)


def scope_of(change: Iterable[Document]) -> Scope:
    """Return what a change may concern: all, unless it has policies with their bindings, and webhooks, alone."""
    contents = [document.content for document in change]
    names = {(one["kind"], (one.get("metadata") or {}).get("name")) for one in contents}
    rules: list[dict[str, Any]] = []
    for content in contents:
        kind, spec = content["kind"], content.get("spec") or {}
        try:
            if kind in POLICIES:
                rules += spec["matchConstraints"]["resourceRules"]
            elif kind in KINDS:
                rules += [rule for hook in content["webhooks"] for rule in hook["rules"]]
            elif kind not in BINDINGS or (kind.removesuffix("Binding"), spec.get("policyName")) not in names:
                return EVERYTHING
        except (KeyError, TypeError):
            return EVERYTHING
    return scope_of_rules(rules)


def scope_of_rules(rules: Iterable[dict[str, Any]]) -> Scope:
    """Return what rules concern, whichever group and version they name: a policy sees equivalent requests, too."""
    resources, operations = set[str](), set[str]()
    for rule in rules:
        plurals, verbs = rule.get("resources"), rule.get("operations")
        if not isinstance(plurals, list) or not isinstance(verbs, list):
            return EVERYTHING
        resources |= {str(text).partition("/")[0] for text in plurals}
        operations |= {VERBS.get(str(text), "") for text in verbs}
        if "*" in verbs:
            operations |= set(OPERATIONS)
    if "*" in resources:
        resources.clear()
    elif not resources:
        return EVERYTHING
    return Scope(frozenset(resources), [name for name in OPERATIONS if name in operations])
