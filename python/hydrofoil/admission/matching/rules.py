"""Rules of webhooks and policies (apiserver `pkg/admission/plugin/webhook/predicates/rules`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from hydrofoil.apis.catalog import Resource

GROUP = "admissionregistration.k8s.io"
EXEMPT = frozenset(
    (
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "validatingwebhookconfigurations",
    )
)
"""Resources that no webhook or policy is asked about (`IsExemptAdmissionConfigurationResource`)."""
Object = dict[str, Any]


def exempt(resource: Resource) -> bool:
    """Report whether a resource configures admission itself."""
    return resource.group == GROUP and resource.plural in EXEMPT


class Rule(Struct, frozen=True):
    """One rule, or the resource rule of a policy."""

    groups: frozenset[str]
    versions: frozenset[str]
    operations: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    """Plurals and subresources; `*` stands for any."""
    scope: str
    """Cluster, Namespaced or `*`."""
    names: frozenset[str]
    """The names that it is restricted to, if it has any."""

    def matches(self, operation: str, resource: Resource, subresource: str, name: str, *, scoped: bool) -> bool:
        """Report whether a request matches; `scoped`: it concerns an object in a namespace."""
        if self.scope != "*" and (self.scope == "Namespaced") is not scoped:
            return False
        if operation not in self.operations and "*" not in self.operations:
            return False
        if resource.group not in self.groups and "*" not in self.groups:
            return False
        if resource.version not in self.versions and "*" not in self.versions:
            return False
        if self.names and name not in self.names:
            return False
        plural = resource.plural
        return any(r in ("*", plural) and s in ("*", subresource) for r, s in self.resources)


def rules(listed: Iterable[Object]) -> tuple[Rule, ...]:
    """Return compiled rules."""
    return tuple(map(_rule, listed))


def _rule(raw: Object) -> Rule:
    parts = (text.partition("/") for text in raw.get("resources") or ())
    return Rule(
        frozenset(raw.get("apiGroups") or ()),
        frozenset(raw.get("apiVersions") or ()),
        frozenset(raw.get("operations") or ()),
        tuple((plural, subresource) for plural, _, subresource in parts),
        raw.get("scope") or "*",
        frozenset(raw.get("resourceNames") or ()),
    )
