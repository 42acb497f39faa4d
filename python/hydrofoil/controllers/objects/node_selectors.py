"""Selectors of nodes (component-helpers `scheduling/corev1/nodeaffinity`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from hydrofoil.controllers.objects.meta import Labels, Requirement
from hydrofoil.controllers.objects.pods import PodSpec

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


class RequiredNodeAffinity:
    """The nodes that a pod asks for by labels (`nodeaffinity.GetRequiredNodeAffinity`)."""

    def __init__(self, spec: PodSpec) -> None:
        self._labels = spec.node_selector
        rules = ((spec.affinity or {}).get("nodeAffinity") or {}).get(REQUIRED)
        self._terms: tuple[NodeTerm, ...] | None = read_node_selector(rules)

    def names(self) -> frozenset[str] | None:
        """Return the names of nodes of which one is asked for, if every term has some; None: any node may do.

        So it is for pods of daemon sets, each of which is for one node (`nodeaffinity.NodeAffinity.PreFilter`).
        """
        found: set[str] = set()
        for term in self._terms or ():
            named = [requirement.values for requirement in term.names if requirement.operator == "In"]
            if not named:
                return None
            found |= frozenset.intersection(*named)
        return frozenset(found) if self._terms else None

    def matches(self, name: str, labels: Labels) -> bool:
        """Report whether a node is one of them."""
        if not self._labels.items() <= labels.items():
            return False
        return self._terms is None or any(term.matches(name, labels) for term in self._terms)
