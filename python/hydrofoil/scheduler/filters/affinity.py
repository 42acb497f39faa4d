"""Affinity and anti-affinity between pods (`framework/plugins/interpodaffinity/filtering.go`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.filter import Filter, Refusal
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo
from hydrofoil.scheduler.terms import AffinityTerm

Domain = tuple[str, str]
"""A key of a topology and its value."""


class InterPodAffinity(Filter):
    """Refuse nodes by what the pod says of others, and others of it."""

    plugin = "InterPodAffinity"
    looks_around = True
    EXISTING = Refusal(("node(s) didn't satisfy existing pods anti-affinity rules",), False, plugin)
    AFFINITY = Refusal(("node(s) didn't match pod affinity rules",), True, plugin)
    ANTI_AFFINITY = Refusal(("node(s) didn't match pod anti-affinity rules",), False, plugin)

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        super().__init__(pod, cluster)
        self._existing: Counter[Domain] = Counter()
        """Domains with pods that refuse this one."""
        self._near: Counter[Domain] = Counter()
        """Domains with pods that meet all terms of affinity of this one."""
        self._apart: Counter[Domain] = Counter()
        """Domains with pods that this one refuses."""
        for name in cluster.with_terms:
            node = cluster.nodes[name]
            for other in node.with_terms.values():
                self._count_existing(node, other, 1)
        if pod.affinity or pod.anti_affinity:
            for node in cluster.nodes.values():
                for other in node.pods.values():
                    self._count_own(node, other, 1)

    @classmethod
    def concerns(cls, pod: PodInfo, cluster: Cluster) -> bool:
        return bool(pod.affinity or pod.anti_affinity or cluster.with_terms)

    def _domains(self, node: NodeInfo, terms: Iterable[AffinityTerm]) -> Iterable[Domain]:
        return ((t.topology_key, node.labels[t.topology_key]) for t in terms if t.topology_key in node.labels)

    def _count_existing(self, node: NodeInfo, other: PodInfo, sign: int) -> None:
        namespaces = self.cluster.namespaces
        meant = [term for term in other.anti_affinity if term.matches(self.pod.pod, namespaces)]
        for domain in self._domains(node, meant):
            self._existing[domain] += sign

    def _count_own(self, node: NodeInfo, other: PodInfo, sign: int) -> None:
        pod, namespaces = self.pod, self.cluster.namespaces
        if pod.affinity and all(term.matches(other.pod, namespaces) for term in pod.affinity):
            for domain in self._domains(node, pod.affinity):
                self._near[domain] += sign
        for term in pod.anti_affinity:
            if term.matches(other.pod, namespaces):
                for domain in self._domains(node, (term,)):
                    self._apart[domain] += sign

    def add(self, node: NodeInfo, pod: PodInfo) -> None:
        self._count_existing(node, pod, 1)
        self._count_own(node, pod, 1)

    def remove(self, node: NodeInfo, pod: PodInfo) -> None:
        self._count_existing(node, pod, -1)
        self._count_own(node, pod, -1)

    def refuse(self, node: NodeInfo) -> Refusal | None:
        if not self._meets_affinity(node):
            return self.AFFINITY
        if any(self._apart[domain] > 0 for domain in self._domains(node, self.pod.anti_affinity)):
            return self.ANTI_AFFINITY
        if self._existing and any(self._existing[domain] > 0 for domain in node.labels.items()):
            return self.EXISTING
        return None

    def _meets_affinity(self, node: NodeInfo) -> bool:
        terms = self.pod.affinity
        if not terms:
            return True
        domains = list(self._domains(node, terms))
        if len(domains) < len(terms):
            return False
        if all(self._near[domain] > 0 for domain in domains):
            return True
        # The first pod of a group that asks for itself would never find a place.
        nobody = not any(count > 0 for count in self._near.values())
        return nobody and all(term.matches(self.pod.pod, self.cluster.namespaces) for term in terms)
