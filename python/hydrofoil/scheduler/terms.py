"""Terms of affinity between pods (kube-scheduler `framework/types.go`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hydrofoil.controllers.objects.meta import Labels, LabelSelector
from hydrofoil.controllers.objects.node_selectors import PREFERRED, REQUIRED
from hydrofoil.controllers.objects.pods import Pod


class AffinityTerm(Struct, frozen=True):
    """What a pod says of others within a domain of a topology (`fwk.AffinityTerm`)."""

    topology_key: str
    selector: LabelSelector | None
    """None selects no pod."""
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None
    """None selects no namespace."""
    weight: int = 0

    def matches(self, pod: Pod, namespace_labels: Mapping[str, Labels]) -> bool:
        """Report whether a pod is meant; `namespace_labels` are those of all namespaces by their names."""
        within, chosen = pod.metadata.namespace, self.namespace_selector
        if within not in self.namespaces and (chosen is None or not chosen.matches(namespace_labels.get(within, {}))):
            return False
        return self.selector is not None and self.selector.matches(pod.metadata.labels)


def read_selector(value: Any) -> LabelSelector | None:
    """Return a LabelSelector of an object; None if it has none."""
    return None if value is None else msgspec.convert(value, LabelSelector)


def _read_term(pod: Pod, term: Mapping[str, Any], weight: int = 0) -> AffinityTerm:
    named = frozenset(term.get("namespaces") or ())
    chosen = read_selector(term.get("namespaceSelector"))
    if not named and chosen is None:
        named = frozenset((pod.metadata.namespace,))
    return AffinityTerm(term["topologyKey"], read_selector(term.get("labelSelector")), named, chosen, weight)


def _liked(pod: Pod, rules: Mapping[str, Any], sign: int) -> list[AffinityTerm]:
    return [_read_term(pod, each["podAffinityTerm"], sign * each["weight"]) for each in rules.get(PREFERRED) or ()]


def pod_terms(
    pod: Pod,
) -> tuple[tuple[AffinityTerm, ...], tuple[AffinityTerm, ...], tuple[AffinityTerm, ...]]:
    """Return the required terms of affinity and anti-affinity of a pod, and all preferred ones."""
    affinity = pod.spec.affinity
    if affinity is None:
        return (), (), ()
    near, apart = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
    required = tuple(_read_term(pod, term) for term in near.get(REQUIRED) or ())
    refused = tuple(_read_term(pod, term) for term in apart.get(REQUIRED) or ())
    return required, refused, (*_liked(pod, near, 1), *_liked(pod, apart, -1))
