"""Selectors of nodes, and terms of affinity between pods (component-helpers `scheduling/corev1/nodeaffinity`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hydrofoil.controllers.objects.meta import Labels, LabelSelector, Requirement
from hydrofoil.controllers.objects.pods import Pod

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


class NodeTerm(Struct, frozen=True):
    """A term of a selector of nodes: all of its requirements have to be met."""

    labels: tuple[Requirement, ...]
    names: tuple[Requirement, ...]
    """Requirements of `metadata.name`."""

    def matches(self, name: str, labels: Labels) -> bool:
        """Report whether a node meets the term; one without requirements is met by none."""
        if not self.labels and not self.names:
            return False
        named = {"metadata.name": name}
        return all(r.matches(labels) for r in self.labels) and all(r.matches(named) for r in self.names)


def _requirements(given: Iterable[Mapping[str, Any]]) -> tuple[Requirement, ...]:
    return tuple(Requirement(r["key"], r["operator"], frozenset(r.get("values") or ())) for r in given)


def read_node_term(term: Mapping[str, Any]) -> NodeTerm:
    """Return a NodeSelectorTerm."""
    return NodeTerm(_requirements(term.get("matchExpressions") or ()), _requirements(term.get("matchFields") or ()))


def read_node_selector(selector: Mapping[str, Any] | None) -> tuple[NodeTerm, ...] | None:
    """Return the terms of a NodeSelector, one of which has to be met; None: any node will do."""
    if selector is None:
        return None
    return tuple(map(read_node_term, selector.get("nodeSelectorTerms") or ()))


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
