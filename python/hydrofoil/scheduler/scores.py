"""Which of the nodes that fit is best, with the weights of the default profile (`framework/plugins`).

Every score is from 0 to 100. Those that upstream measures by the best node of an attempt (tolerated taints, preferred
labels) are measured by what is possible instead, so that the score of a node holds for the next pod of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from hydrofoil.controllers.objects.meta import Labels
from hydrofoil.controllers.objects.node_selectors import PREFERRED, NodeTerm, read_node_term
from hydrofoil.controllers.objects.nodes import PREFER_NO_SCHEDULE
from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.spread import SOFT, read_constraints
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo
from hydrofoil.scheduler.terms import AffinityTerm

TAINTS, LABELS, SPREAD, PODS = 3, 2, 2, 2
"""The weights of TaintToleration, NodeAffinity, PodTopologySpread and InterPodAffinity; others have 1."""
MOST = 100.0


class NodeScores:
    """The scores that look at the node alone."""

    def __init__(self, pod: PodInfo) -> None:
        self._pod = pod
        self._tolerations = [t for t in pod.pod.spec.tolerations if t.effect in ("", PREFER_NO_SCHEDULE)]
        rules = ((pod.pod.spec.affinity or {}).get("nodeAffinity") or {}).get(PREFERRED) or ()
        self._liked: list[tuple[int, NodeTerm]] = [(r["weight"], read_node_term(r["preference"])) for r in rules]
        self._weights = sum(weight for weight, _ in self._liked)

    def score(self, node: NodeInfo) -> float:
        """Return the weighted sum."""
        total = self._room(node)
        if node.node.spec.taints:
            total += TAINTS * self._taints(node)
        else:
            total += TAINTS * MOST
        if self._weights:
            met = sum(weight for weight, term in self._liked if term.matches(node.name, node.labels))
            total += LABELS * MOST * met / self._weights
        return total

    def _room(self, node: NodeInfo) -> float:
        """Return LeastAllocated and BalancedAllocation of CPU and memory."""
        room = node.allocatable
        cpu, memory = self._pod.counted
        fractions = []
        for taken, size in ((node.cpu + cpu, room.get("cpu", 0)), (node.memory + memory, room.get("memory", 0))):
            if size:
                fractions.append(min(taken / size, 1.0))
        if not fractions:
            return 0.0
        least = MOST * (1.0 - sum(fractions) / len(fractions))
        apart = abs(fractions[0] - fractions[-1]) / 2
        return least + MOST * (1.0 - apart)

    def _taints(self, node: NodeInfo) -> float:
        disliked = sum(
            taint.effect == PREFER_NO_SCHEDULE and not any(t.tolerates(taint) for t in self._tolerations)
            for taint in node.node.spec.taints
        )
        return MOST / (1 + disliked)


class PodScores:
    """The scores that look at the pods of all nodes: preferred affinity, and spread that may be uneven."""

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        self._pod = pod
        self._namespaces: Mapping[str, Labels] = cluster.namespaces
        self._liked: dict[tuple[str, str], int] = {}
        self._constraints = read_constraints(pod.pod, SOFT)
        self._counts: list[dict[str, int]] = [{} for _ in self._constraints]
        everywhere = bool(pod.liked or self._constraints)
        names = cluster.nodes if everywhere else cluster.with_terms
        for name in names:
            node = cluster.nodes[name]
            for other in node.pods.values() if everywhere else node.with_terms.values():
                self._take(node, other)

    @classmethod
    def concerns(cls, pod: PodInfo, cluster: Cluster) -> bool:
        """Report whether any pod has a say."""
        soft = any(c.get("whenUnsatisfiable") == SOFT for c in pod.pod.spec.topology_spread_constraints)
        return bool(pod.liked or soft or cluster.with_terms)

    def _take(self, node: NodeInfo, other: PodInfo) -> None:
        for term in self._pod.liked:
            self._like(node, term, other, term.weight)
        for term in other.liked:
            self._like(node, term, self._pod, term.weight)
        for term in other.affinity:
            # `hardPodAffinityWeight` of the default profile.
            self._like(node, term, self._pod, 1)
        for constraint, counts in zip(self._constraints, self._counts, strict=True):
            value = node.labels.get(constraint.topology_key)
            if value is not None and constraint.counts(other.pod, self._pod.pod.metadata.namespace):
                counts[value] = counts.get(value, 0) + 1

    def _like(self, node: NodeInfo, term: AffinityTerm, pod: PodInfo, weight: int) -> None:
        value = node.labels.get(term.topology_key)
        if value is not None and term.matches(pod.pod, self._namespaces):
            domain = term.topology_key, value
            self._liked[domain] = self._liked.get(domain, 0) + weight

    def scores(self, nodes: list[NodeInfo]) -> list[float]:
        """Return the weighted scores of nodes."""
        liked = [float(sum(self._liked.get(domain, 0) for domain in node.labels.items())) for node in nodes]
        crowds = [self._crowd(node) for node in nodes]
        total = [PODS * score for score in _spread_out(liked)]
        return [one + SPREAD * (MOST - score) for one, score in zip(total, _spread_out(crowds), strict=True)]

    def _crowd(self, node: NodeInfo) -> float:
        """Return how many pods are in the domains of a node; those of many domains count more."""
        crowd = 0.0
        for constraint, counts in zip(self._constraints, self._counts, strict=True):
            crowd += counts.get(node.labels.get(constraint.topology_key, ""), 0) * sqrt(len(counts) + 2)
        return crowd


def _spread_out(values: list[float]) -> list[float]:
    """Return values from 0 for the least to 100 for the greatest (`NormalizeScore`)."""
    least, most = min(values, default=0.0), max(values, default=0.0)
    if least == most:
        return [0.0] * len(values)
    return [MOST * (value - least) / (most - least) for value in values]
