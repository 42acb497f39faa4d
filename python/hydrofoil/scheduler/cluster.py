"""What is on the nodes, bindings included that are on their way (scheduler `backend/cache`)."""

from __future__ import annotations

from msgspec import structs

from hydrofoil.controllers.objects.meta import Labels
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.resource_claims import ResourceClaim
from hydrofoil.controllers.objects.volumes import PersistentVolume, PersistentVolumeClaim, StorageClass
from hydrofoil.controllers.runtime.lister import Lister
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo, PodInfos


class Cluster:
    """The nodes and the pods on them.

    A pod is on its node from the moment at which the scheduler decides so: the next pod is decided on before the
    binding is written. `assume` says so, and `forget` takes it back where the binding has failed; the event of the
    bound pod replaces it.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, NodeInfo] = {}
        self.namespaces: dict[str, Labels] = {}
        """The labels of namespaces."""
        self.changed: dict[str, None] = {}
        """The nodes that have changed, the latest last, for those who keep results of all nodes."""
        self._places: dict[str, str] = {}
        """The node of each pod, by uid."""
        self._homeless: dict[str, dict[str, PodInfo]] = {}
        """Pods of nodes that are not known, by node and uid: a node may come after its pods."""
        self.nominated: dict[str, dict[str, PodInfo]] = {}
        """Pods that wait for their victims to go, by node and uid."""
        self._nominations: dict[str, str] = {}
        self.with_terms: dict[str, None] = {}
        """The nodes with pods that have terms of affinity."""
        self.infos = PodInfos()
        self.claims: Lister[PersistentVolumeClaim] | None = None
        self.volumes: Lister[PersistentVolume] | None = None
        self.classes: Lister[StorageClass] | None = None
        self.devices: Lister[ResourceClaim] | None = None
        """The claims of devices."""

    def put_node(self, node: Node) -> None:
        """Take the present state of a node."""
        name = node.metadata.name
        info = self.nodes.get(name)
        if info is None:
            info = self.nodes[name] = NodeInfo(node)
            for pod in self._homeless.pop(name, {}).values():
                info.add(pod)
        else:
            info.set_node(node)
        self._note(info)

    def remove_node(self, name: str) -> None:
        """Forget a node; its pods are still there."""
        info = self.nodes.pop(name, None)
        if info is not None and info.pods:
            self._homeless[name] = info.pods
        self.changed[name] = None
        self.with_terms.pop(name, None)

    def _note(self, info: NodeInfo) -> None:
        self.changed.pop(info.name, None)
        self.changed[info.name] = None
        if info.with_terms:
            self.with_terms[info.name] = None
        else:
            self.with_terms.pop(info.name, None)

    def put_pod(self, pod: Pod) -> None:
        """Take the present state of a pod that is bound."""
        self.assume(self.infos.read(pod), pod.spec.node_name)

    def assume(self, info: PodInfo, node: str) -> None:
        """Count a pod on a node."""
        uid = info.pod.metadata.uid
        if self._places.get(uid, node) != node:
            self.forget(uid)
        self._places[uid] = node
        self.denominate(uid)
        if (place := self.nodes.get(node)) is None:
            self._homeless.setdefault(node, {})[uid] = info
            return
        place.add(info)
        self._note(place)

    def refresh(self, pod: Pod) -> None:
        """Take a later version of a pod that is counted on its node, and differs in nothing that counts."""
        place = self.nodes.get(pod.spec.node_name)
        known = None if place is None else place.pods.get(pod.metadata.uid)
        if place is not None and known is not None:
            # The former version would be kept for it alone.
            place.pods[pod.metadata.uid] = structs.replace(known, pod=pod)

    def forget(self, uid: str) -> None:
        """Count a pod no more."""
        self.denominate(uid)
        node = self._places.pop(uid, None)
        if node is None:
            return
        if (place := self.nodes.get(node)) is not None:
            place.remove(uid)
            self._note(place)
        elif (pods := self._homeless.get(node)) is not None:
            pods.pop(uid, None)
            if not pods:
                del self._homeless[node]

    def is_on(self, uid: str, node: str) -> bool:
        """Report whether a pod is counted on a node."""
        return self._places.get(uid) == node

    def holds(self, uid: str) -> bool:
        """Report whether a pod is counted on some node."""
        return uid in self._places

    def nominate(self, info: PodInfo, node: str) -> None:
        """Keep room on a node for a pod of a higher priority than those that leave it."""
        uid = info.pod.metadata.uid
        self.denominate(uid)
        self._nominations[uid] = node
        self.nominated.setdefault(node, {})[uid] = info

    def denominate(self, uid: str) -> None:
        """Keep no room for a pod any more."""
        node = self._nominations.pop(uid, None)
        if node is not None:
            self.nominated[node].pop(uid)
            if not self.nominated[node]:
                del self.nominated[node]
