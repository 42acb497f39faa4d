"""What is known of one node (scheduler `framework/types.go`, NodeInfo)."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, structs

from hydrofoil.controllers.objects.node_selectors import RequiredNodeAffinity
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.pods import Pod, PodSpec
from hydrofoil.scheduler.requests import LEAST, host_ports, pod_requests, read_amounts
from hydrofoil.scheduler.terms import AffinityTerm, pod_terms

Port = tuple[str, str, int]
Kind = tuple[object, ...]
MOST = 256
"""The number of kinds of pods that are known."""


class PodInfo(Struct, frozen=True, gc=False):
    """A pod, and what the scheduler computes of it once."""

    pod: Pod
    requests: dict[str, int]
    counted: tuple[int, int]
    """CPU and memory that count in scores: containers without requests count as some."""
    ports: frozenset[Port]
    affinity: tuple[AffinityTerm, ...]
    anti_affinity: tuple[AffinityTerm, ...]
    liked: tuple[AffinityTerm, ...]
    """Preferred terms, those of anti-affinity with negative weights."""
    node_names: frozenset[str] | None
    """The names of the nodes to look at; None: all (`PreFilterResult`)."""
    kind: Kind
    """What the scores and refusals of nodes depend on, for a pod that says nothing of others."""

    @property
    def has_terms(self) -> bool:
        """Report whether the pod says anything of other pods."""
        return bool(self.affinity or self.anti_affinity or self.liked)


def read_pod(pod: Pod) -> PodInfo:
    """Return what the scheduler knows of a pod."""
    least, requests, spec = pod_requests(pod, LEAST), pod_requests(pod), pod.spec
    required, refused, liked = pod_terms(pod)
    counted = least.get("cpu", 0), least.get("memory", 0)
    names = RequiredNodeAffinity(spec).names() if spec.affinity else None
    selector = tuple(sorted(spec.node_selector.items()))
    kind = tuple(sorted(requests.items())), counted, selector, repr(spec.affinity), spec.tolerations
    return PodInfo(pod, requests, counted, host_ports(pod), required, refused, liked, names, kind)


class PodInfos:
    """What is known of pods, computed once for those that share their specs, as the pods of a replica set do."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[PodSpec, PodInfo]] = {}
        """The last pod of each spec and namespace, by the identity of the spec, which is kept therefore."""

    def read(self, pod: Pod) -> PodInfo:
        """Return what the scheduler knows of a pod."""
        key = id(pod.spec), pod.metadata.namespace
        known = self._known.get(key)
        if known is not None:
            return structs.replace(known[1], pod=pod)
        if len(self._known) >= MOST:
            self._known.clear()
        info = read_pod(pod)
        self._known[key] = pod.spec, info
        return info


class NodeInfo:
    """A node, the pods on it, and the sums of what they take."""

    def __init__(self, node: Node) -> None:
        self.generation = 0
        """It grows with each change: what was computed of the node holds as long as it stays."""
        self.pods: dict[str, PodInfo] = {}
        """By uid, those included that are bound by now."""
        self.requested: Counter[str] = Counter()
        self.cpu = self.memory = 0
        """What counts in scores."""
        self.ports: Counter[Port] = Counter()
        self.with_terms: dict[str, PodInfo] = {}
        """Pods with terms of affinity or anti-affinity, by uid."""
        self.set_node(node)

    def set_node(self, node: Node) -> None:
        """Take the present state of the node itself."""
        self.node = node
        self.labels = node.metadata.labels
        self.allocatable = read_amounts(node.status.allocatable)
        self.generation += 1

    @property
    def name(self) -> str:
        """Return the name of the node."""
        return self.node.metadata.name

    def add(self, info: PodInfo) -> None:
        """Add a pod."""
        uid = info.pod.metadata.uid
        if uid in self.pods:
            self.remove(uid)
        self.pods[uid] = info
        self._count(info, 1)
        if info.has_terms:
            self.with_terms[uid] = info

    def remove(self, uid: str) -> PodInfo | None:
        """Remove a pod; return it, if it is there."""
        info = self.pods.pop(uid, None)
        if info is not None:
            self.with_terms.pop(uid, None)
            self._count(info, -1)
        return info

    def _count(self, info: PodInfo, sign: int) -> None:
        for name, amount in info.requests.items():
            self.requested[name] += sign * amount
        self.cpu += sign * info.counted[0]
        self.memory += sign * info.counted[1]
        for port in info.ports:
            self.ports[port] += sign
            if not self.ports[port]:
                del self.ports[port]
        self.generation += 1

    def copy(self) -> NodeInfo:
        """Return a copy whose pods may be changed."""
        other = NodeInfo(self.node)
        other.pods = dict(self.pods)
        other.requested = Counter(self.requested)
        other.cpu, other.memory = self.cpu, self.memory
        other.ports = Counter(self.ports)
        other.with_terms = dict(self.with_terms)
        return other
