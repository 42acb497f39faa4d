"""Templates of pods, which controllers pass on and compare (`k8s.io/api/core/v1`, PodTemplateSpec)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson
from msgspec import Raw, Struct

from hydrofoil.controllers.objects.quantities import parse_quantity

POD_TEMPLATE_HASH = "pod-template-hash"
"""The label that tells the pods of a deployment's replica sets apart (`DefaultDeploymentUniqueLabelKey`)."""
QUANTITIES = frozenset(("limits", "requests", "overhead"))
"""The members of a pod whose values are quantities."""
QUANTITY = frozenset(("sizeLimit", "divisor"))
"""Those that are one."""


class PodTemplate(Struct, frozen=True):
    """A template. Its parts are as they are stored."""

    metadata: dict[str, Any] = {}
    spec: Raw = Raw(b"{}")

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of the pods."""
        found: dict[str, str] = self.metadata.get("labels") or {}
        return found

    def value(self) -> dict[str, Any]:
        """Return the template as a JSON value that orjson encodes; its spec is encoded already."""
        return {"metadata": self.metadata, "spec": orjson.Fragment(bytes(self.spec))}


def _comparable(value: Any) -> Any:
    """Return a JSON value in which equal quantities are equal numbers, and what is null is absent."""
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for name, member in value.items():
        if member is None:
            continue
        if name in QUANTITIES and isinstance(member, dict):
            found[name] = {of: parse_quantity(str(amount)) for of, amount in member.items()}
        elif name in QUANTITY:
            found[name] = parse_quantity(str(member))
        else:
            found[name] = _comparable(member)
    return found


@lru_cache(256)
def _comparable_spec(spec: bytes) -> Any:
    """Return the spec of a pod as a value to compare; a deployment compares that of each old replica set again."""
    return _comparable(orjson.loads(spec))


def equal_specs(left: Raw, right: Raw) -> bool:
    """Report whether two specs mean the same (`Semantic.DeepEqual`)."""
    one, other = bytes(left), bytes(right)
    # What is stored is canonical: nearly always the texts are equal, or the values differ.
    return one == other or bool(_comparable_spec(one) == _comparable_spec(other))


def _without(metadata: dict[str, Any], label: str) -> dict[str, Any]:
    """Return metadata without one label, and without what is empty."""
    labels = {name: value for name, value in (metadata.get("labels") or {}).items() if name != label}
    found = {name: value for name, value in metadata.items() if name != "labels" and value}
    return {**found, "labels": labels}


def equal_templates(left: PodTemplate, right: PodTemplate, *, ignoring: str = "") -> bool:
    """Report whether two templates mean the same, but for one label."""
    is_same = _without(left.metadata, ignoring) == _without(right.metadata, ignoring)
    return is_same and equal_specs(left.spec, right.spec)


def equal_ignoring_hash(left: PodTemplate, right: PodTemplate) -> bool:
    """Report whether two templates mean the same but for the hash among their labels (`EqualIgnoreHash`)."""
    return equal_templates(left, right, ignoring=POD_TEMPLATE_HASH)
