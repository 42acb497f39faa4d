"""Even spread over domains of a topology (`framework/plugins/podtopologyspread/filtering.go`)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hydrofoil.controllers.objects.meta import LabelSelector, LabelSelectorRequirement
from hydrofoil.controllers.objects.node_selectors import RequiredNodeAffinity
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.filter import Filter, Refusal
from hydrofoil.scheduler.filters.nodes import untolerated_taint
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo
from hydrofoil.scheduler.terms import read_selector

HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"


class Constraint(Struct, frozen=True):
    """A constraint of a pod, with the selector that its keys of labels add to."""

    topology_key: str
    max_skew: int
    selector: LabelSelector | None
    min_domains: int
    honors_affinity: bool
    honors_taints: bool

    def counts(self, pod: Pod, namespace: str) -> bool:
        """Report whether a pod is counted (`countPodsMatchSelector`): one that is deleted is not."""
        return (
            self.selector is not None
            and not self.selector.is_empty
            and not pod.is_deleting
            and pod.metadata.namespace == namespace
            and self.selector.matches(pod.metadata.labels)
        )


def read_constraints(pod: Pod, action: str) -> tuple[Constraint, ...]:
    """Return the constraints of a pod that have one action where they cannot be met."""
    return tuple(
        _read(pod, given) for given in pod.spec.topology_spread_constraints if given.get("whenUnsatisfiable") == action
    )


def _read(pod: Pod, given: dict[str, Any]) -> Constraint:
    selector = read_selector(given.get("labelSelector"))
    labels = pod.metadata.labels
    if selector is not None:
        keys = [key for key in given.get("matchLabelKeys") or () if key in labels]
        more = tuple(LabelSelectorRequirement(key, "In", (labels[key],)) for key in keys)
        selector = LabelSelector(selector.match_labels, selector.match_expressions + more)
    return Constraint(
        given["topologyKey"],
        given["maxSkew"],
        selector,
        given.get("minDomains") or 1,
        given.get("nodeAffinityPolicy", "Honor") == "Honor",
        given.get("nodeTaintsPolicy", "Ignore") == "Honor",
    )


class PodTopologySpread(Filter):
    """Refuse nodes of domains that have too many pods already."""

    plugin = "PodTopologySpread"
    looks_around = True
    REFUSAL = Refusal(("node(s) didn't match pod topology spread constraints",), False, plugin)
    LABEL = Refusal(("node(s) didn't match pod topology spread constraints (missing required label)",), True, plugin)

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        super().__init__(pod, cluster)
        self._constraints = read_constraints(pod.pod, HARD)
        self._required = RequiredNodeAffinity(pod.pod.spec)
        self._counts: list[dict[str, int]] = [{} for _ in self._constraints]
        """The number of pods in each domain, by constraint."""
        self._least: list[int] | None = None
        """The least of them by constraint, until a number changes: it is asked once a node."""
        for node in cluster.nodes.values():
            if not self._has_keys(node):
                continue
            for constraint, counts in zip(self._constraints, self._counts, strict=True):
                if self._includes(constraint, node):
                    counts.setdefault(node.labels[constraint.topology_key], 0)
                    for other in node.pods.values():
                        self._count(constraint, counts, node, other, 1)

    @classmethod
    def concerns(cls, pod: PodInfo, _: Cluster) -> bool:
        return any(c.get("whenUnsatisfiable") == HARD for c in pod.pod.spec.topology_spread_constraints)

    def _has_keys(self, node: NodeInfo) -> bool:
        return all(constraint.topology_key in node.labels for constraint in self._constraints)

    def _includes(self, constraint: Constraint, node: NodeInfo) -> bool:
        """Report whether the domain of a node counts for the least number of pods."""
        if constraint.honors_affinity and not self._required.matches(node.name, node.labels):
            return False
        return not constraint.honors_taints or untolerated_taint(node.node, self.pod.pod) is None

    def _count(self, constraint: Constraint, counts: dict[str, int], node: NodeInfo, other: PodInfo, sign: int) -> None:
        if constraint.counts(other.pod, self.pod.pod.metadata.namespace):
            counts[node.labels[constraint.topology_key]] += sign

    def _shift(self, node: NodeInfo, pod: PodInfo, sign: int) -> None:
        if not self._has_keys(node):
            return
        self._least = None
        for constraint, counts in zip(self._constraints, self._counts, strict=True):
            if self._includes(constraint, node):
                self._count(constraint, counts, node, pod, sign)

    def add(self, node: NodeInfo, pod: PodInfo) -> None:
        self._shift(node, pod, 1)

    def remove(self, node: NodeInfo, pod: PodInfo) -> None:
        self._shift(node, pod, -1)

    def refuse(self, node: NodeInfo) -> Refusal | None:
        own = self.pod.pod
        if self._least is None:
            self._least = [
                min(counts.values(), default=0) if len(counts) >= constraint.min_domains else 0
                for constraint, counts in zip(self._constraints, self._counts, strict=True)
            ]
        for constraint, counts, least in zip(self._constraints, self._counts, self._least, strict=True):
            value = node.labels.get(constraint.topology_key)
            if value is None:
                return self.LABEL
            selector = constraint.selector
            counts_itself = selector is not None and selector.matches(own.metadata.labels)
            if counts.get(value, 0) + counts_itself - least > constraint.max_skew:
                return self.REFUSAL
        return None
