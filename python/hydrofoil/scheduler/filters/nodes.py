"""Filters that look at the node alone: its name, labels and taints."""

from __future__ import annotations

from hydrofoil.controllers.objects.node_selectors import RequiredNodeAffinity
from hydrofoil.controllers.objects.nodes import NO_EXECUTE, NO_SCHEDULE, Node, Taint
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.filter import Filter, NoPlace, Refusal
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo

UNSCHEDULABLE_TAINT = Taint("node.kubernetes.io/unschedulable", NO_SCHEDULE)


def untolerated_taint(node: Node, pod: Pod) -> Taint | None:
    """Return a taint that keeps a pod away (`FindMatchingUntoleratedTaint`)."""
    for taint in node.spec.taints:
        if taint.effect in (NO_SCHEDULE, NO_EXECUTE) and not any(t.tolerates(taint) for t in pod.spec.tolerations):
            return taint
    return None


class NodeUnschedulable(Filter):
    """Refuse nodes that are cordoned."""

    plugin = "NodeUnschedulable"
    REFUSAL = Refusal(("node(s) were unschedulable",), True, plugin)

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        super().__init__(pod, cluster)
        self._is_tolerated = any(t.tolerates(UNSCHEDULABLE_TAINT) for t in pod.pod.spec.tolerations)

    def refuse(self, node: NodeInfo) -> Refusal | None:
        return self.REFUSAL if node.node.spec.unschedulable and not self._is_tolerated else None


class TaintToleration(Filter):
    """Refuse nodes with taints that the pod does not tolerate."""

    plugin = "TaintToleration"
    REFUSAL = Refusal(("node(s) had untolerated taint(s)",), True, plugin)

    def refuse(self, node: NodeInfo) -> Refusal | None:
        if not node.node.spec.taints or untolerated_taint(node.node, self.pod.pod) is None:
            return None
        return self.REFUSAL


class NodeAffinity(Filter):
    """Refuse nodes whose labels the pod does not ask for."""

    plugin = "NodeAffinity"
    REFUSAL = Refusal(("node(s) didn't match Pod's node affinity/selector",), True, plugin)
    OTHER = Refusal(("node(s) didn't satisfy plugin(s) [NodeAffinity]",), True, plugin)
    """Of a node that the pod does not name."""

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        super().__init__(pod, cluster)
        self._required = RequiredNodeAffinity(pod.pod.spec)
        if pod.node_names is not None and not pod.node_names:
            raise NoPlace("pod affinity terms conflict", self.plugin)

    @classmethod
    def concerns(cls, pod: PodInfo, _: Cluster) -> bool:
        spec = pod.pod.spec
        return bool(spec.node_selector) or bool((spec.affinity or {}).get("nodeAffinity"))

    def refuse(self, node: NodeInfo) -> Refusal | None:
        return None if self._required.matches(node.name, node.labels) else self.REFUSAL
