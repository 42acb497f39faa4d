"""The filters of the default profile, in their order (`apis/config/v1/default_plugins.go`)."""

from __future__ import annotations

from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.affinity import InterPodAffinity
from hydrofoil.scheduler.filters.devices import DynamicResources
from hydrofoil.scheduler.filters.filter import Filter, Refusal
from hydrofoil.scheduler.filters.nodes import NodeAffinity, NodeUnschedulable, TaintToleration
from hydrofoil.scheduler.filters.resources import NodePorts, NodeResourcesFit
from hydrofoil.scheduler.filters.spread import PodTopologySpread
from hydrofoil.scheduler.filters.volumes import VolumeBinding, VolumeRestrictions, VolumeZone
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo

FILTERS: tuple[type[Filter], ...] = (
    NodeUnschedulable,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
    DynamicResources,
)


class Filters:
    """The filters that concern one pod in one attempt."""

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        """Prepare them. Raise NoPlace."""
        self.pod = pod
        self._cluster = cluster
        self._all = [kind(pod, cluster) for kind in FILTERS if kind.concerns(pod, cluster)]

    @property
    def volumes(self) -> VolumeBinding | None:
        """Return the filter that chooses volumes; None for a pod without claims."""
        return next((one for one in self._all if isinstance(one, VolumeBinding)), None)

    def refuse(self, node: NodeInfo) -> Refusal | None:
        """Return why a node is refused, by the first filter that refuses it."""
        for one in self._all:
            if (refusal := one.refuse(node)) is not None:
                return refusal
        return None

    def refuse_with_nominated(self, node: NodeInfo) -> Refusal | None:
        """Return why a node is refused, also if the pods were there that are to come.

        A pod of a lower priority gives way to them; without them the node has to fit, too, as they may never come
        (`RunFilterPluginsWithNominatedPods`).
        """
        priority, uid = self.pod.pod.spec.priority, self.pod.pod.metadata.uid
        waiting = [
            info
            for other, info in self._cluster.nominated.get(node.name, {}).items()
            if other != uid and info.pod.spec.priority >= priority
        ]
        if waiting:
            crowded = node.copy()
            for info in waiting:
                self.add(crowded, info)
            refusal = self.refuse(crowded)
            for info in waiting:
                self.remove(crowded, info)
            if refusal is not None:
                return refusal
        return self.refuse(node)

    def add(self, node: NodeInfo, pod: PodInfo) -> None:
        """Put a pod on a copy of a node."""
        node.add(pod)
        for one in self._all:
            one.add(node, pod)

    def remove(self, node: NodeInfo, pod: PodInfo) -> None:
        """Take a pod from a copy of a node."""
        node.remove(pod.pod.metadata.uid)
        for one in self._all:
            one.remove(node, pod)
