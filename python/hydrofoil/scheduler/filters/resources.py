"""Filters that look at what the pods of a node take: ports and resources."""

from __future__ import annotations

from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.filter import Filter, Refusal
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo, Port

ANY = "0.0.0.0"
FIRST = ("cpu", "memory", "ephemeral-storage")
"""The resources that are looked at first, in this order."""


def conflicts(port: Port, taken: Port) -> bool:
    """Report whether two pods cannot have their ports on one node (`HostPortInfo.CheckConflict`)."""
    return port[0] == taken[0] and port[2] == taken[2] and (port[1] == taken[1] or ANY in (port[1], taken[1]))


class NodePorts(Filter):
    """Refuse nodes whose ports are taken."""

    plugin = "NodePorts"
    REFUSAL = Refusal(("node(s) didn't have free ports for the requested pod ports",), False, plugin)

    @classmethod
    def concerns(cls, pod: PodInfo, _: Cluster) -> bool:
        return bool(pod.ports)

    def refuse(self, node: NodeInfo) -> Refusal | None:
        if any(conflicts(port, taken) for port in self.pod.ports for taken in node.ports):
            return self.REFUSAL
        return None


class NodeResourcesFit(Filter):
    """Refuse nodes without enough of what the pod asks for."""

    plugin = "NodeResourcesFit"

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        super().__init__(pod, cluster)
        requests = pod.requests
        rest = sorted(name for name in requests if name not in FIRST)
        self._requests = [(name, requests[name]) for name in (*FIRST, *rest) if name in requests]

    def refuse(self, node: NodeInfo) -> Refusal | None:
        allocatable, requested = node.allocatable, node.requested
        reasons, is_final = [], False
        if len(node.pods) + 1 > allocatable.get("pods", 0):
            reasons.append("Too many pods")
        for name, amount in self._requests:
            room = allocatable.get(name, 0)
            if amount > room - requested.get(name, 0):
                reasons.append(f"Insufficient {name}")
                # No pod that leaves would make the node larger.
                is_final = is_final or amount > room
        return Refusal(tuple(reasons), is_final, self.plugin) if reasons else None
