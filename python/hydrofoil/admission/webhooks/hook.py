"""One webhook of a configuration, compiled."""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.admission.matching.conditions import Conditions
from hydrofoil.admission.matching.rules import Rule, rules
from hydrofoil.admission.matching.selectors import LabelSelector
from hydrofoil.admission.matching.target import Equivalents, Target
from hydrofoil.admission.matching.versioned_request import VersionedRequest
from hydrofoil.engine import Stored

Object = dict[str, Any]
SUPPORTED = ("v1", "v1beta1")
"""The versions of AdmissionReview."""


class Hook(Struct):
    """One webhook (apiserver `pkg/admission/plugin/webhook/accessors.go`)."""

    name: str
    configuration: str
    """The name of its configuration."""
    key: str
    """Configuration, name and place among those of the same name."""
    rules: tuple[Rule, ...]
    equivalent: bool
    """Whether it also matches requests for other versions of its resources."""
    namespaces: LabelSelector
    objects: LabelSelector
    conditions: tuple[Object, ...]
    ignore: bool
    """Whether a failed call counts as permission."""
    seconds: int
    side_effects: str
    again: bool
    """Whether it is called again after later ones changed the object."""
    version: str
    """The version of its reviews; empty if the server supports none of those it names."""
    client: Object
    """The clientConfig."""
    compiled: Conditions | None = None

    def matching(self) -> Conditions:
        """Return the match conditions, compiled on first use."""
        if self.compiled is None:
            self.compiled = Conditions(self.conditions, ignore=self.ignore)
        return self.compiled

    @property
    def trusted(self) -> tuple[bytes, str]:
        """Return the bundle of authorities in PEM and the server: calls with both equal share their connections."""
        bundle = base64.b64decode(self.client.get("caBundle") or b"")
        service = self.client.get("service")
        if service:
            return bundle, f"{service.get('namespace')}/{service.get('name')}:{service.get('port', 443)}"
        return bundle, str(self.client.get("url", "")).split("/", 3)[2] if "//" in self.client.get("url", "") else ""

    def chosen(self, seen: VersionedRequest, equivalents: Equivalents) -> Target | None:
        """Return the form in which a request matches its selectors and rules. Raise ApiError 404 without namespace."""
        if not seen.selected(self.objects):
            return None
        found = self._ruled(seen, equivalents)
        # Only a webhook that matches otherwise fails for want of a namespace.
        return found if found is not None and seen.within(self.namespaces) else None

    def _ruled(self, seen: VersionedRequest, equivalents: Equivalents) -> Target | None:
        sub, scoped = seen.a.subresource, seen.scoped
        for rule in self.rules:
            if rule.matches(seen.operation, seen.a.resource, sub, seen.name, scoped=scoped):
                return seen.own
        if not self.equivalent:
            return None
        others = equivalents.of(seen.a.resource, sub)
        for rule in self.rules if others else ():
            for other in others:
                if rule.matches(seen.operation, other.resource, sub, seen.name, scoped=scoped):
                    return other
        return None


def hooks(stored: Stored) -> tuple[Hook, ...]:
    """Return the webhooks of a configuration in their order."""
    raw = orjson.loads(stored.json)
    counts: Counter[str] = Counter()
    found = []
    for each in raw.get("webhooks") or ():
        name = each["name"]
        found.append(_hook(each, stored.name, f"{stored.name}/{name}/{counts[name]}"))
        counts[name] += 1
    return tuple(found)


def _hook(raw: Object, configuration: str, key: str) -> Hook:
    versions = raw.get("admissionReviewVersions") or ()
    return Hook(
        raw["name"],
        configuration,
        key,
        rules(raw.get("rules") or ()),
        raw.get("matchPolicy") != "Exact",
        LabelSelector(raw.get("namespaceSelector")),
        LabelSelector(raw.get("objectSelector")),
        tuple(raw.get("matchConditions") or ()),
        raw.get("failurePolicy") == "Ignore",
        raw.get("timeoutSeconds") or 10,
        raw.get("sideEffects", ""),
        raw.get("reinvocationPolicy") == "IfNeeded",
        next((version for version in versions if version in SUPPORTED), ""),
        raw.get("clientConfig") or {},
    )
