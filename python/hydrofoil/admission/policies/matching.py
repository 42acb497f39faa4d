"""The requests that a policy or a binding covers (apiserver `pkg/admission/plugin/policy/matching/matching.go`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.admission.matching.rules import Rule, rules
from hydrofoil.admission.matching.selectors import LabelSelector
from hydrofoil.admission.matching.target import Equivalents, Target
from hydrofoil.admission.matching.versioned_request import VersionedRequest
from hydrofoil.request import REVIEWS

EXCLUDED = REVIEWS
"""Resources that no policy covers (`pkg/kubeapiserver/admission/exclusion`)."""


class MatchResources:
    """Rules and selectors, compiled."""

    __slots__ = ("_equivalent", "_excluded", "_namespaces", "_objects", "_rules")

    def __init__(self, raw: dict[str, Any]) -> None:
        self._rules = rules(raw.get("resourceRules") or ())
        self._excluded = rules(raw.get("excludeResourceRules") or ())
        self._equivalent = raw.get("matchPolicy") != "Exact"
        self._namespaces = LabelSelector(raw.get("namespaceSelector"))
        self._objects = LabelSelector(raw.get("objectSelector"))

    def match(self, seen: VersionedRequest, equivalents: Equivalents) -> Target | None:
        """Return the form in which a request matches. Raise ApiError 404 for a missing namespace."""
        if not seen.selected(self._objects):
            return None
        if self._excluded and self._ruled(self._excluded, seen, equivalents) is not None:
            return None
        found = self._ruled(self._rules, seen, equivalents) if self._rules else seen.own
        return found if found is not None and seen.within(self._namespaces) else None

    def _ruled(self, listed: tuple[Rule, ...], seen: VersionedRequest, equivalents: Equivalents) -> Target | None:
        sub, scoped = seen.a.subresource, seen.scoped
        for rule in listed:
            if rule.matches(seen.operation, seen.a.resource, sub, seen.name, scoped=scoped):
                return seen.own
        if not self._equivalent:
            return None
        others = equivalents.of(seen.a.resource, sub)
        for rule in listed if others else ():
            for other in others:
                if rule.matches(seen.operation, other.resource, sub, seen.name, scoped=scoped):
                    return other
        return None
