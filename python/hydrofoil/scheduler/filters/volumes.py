"""The volumes of a pod, and the nodes that reach them (`framework/plugins/volumebinding`, `volumezone`, ...)."""

from __future__ import annotations

from collections.abc import Iterator

from hydrofoil.controllers.objects.node_selectors import read_node_selector
from hydrofoil.controllers.objects.pods import Pod, claims_of
from hydrofoil.controllers.objects.volumes import (
    NO_PROVISIONER,
    SELECTED_NODE,
    WAITS,
    PersistentVolume,
    PersistentVolumeClaim,
)
from hydrofoil.controllers.volumes.ephemeral import is_claim_of
from hydrofoil.controllers.volumes.matching import find_matching_volume
from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.filter import Filter, NoPlace, Refusal
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo

ONE_POD = "ReadWriteOncePod"
ZONES = (
    ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"),
)
"""Labels of volumes that nodes have, too, by their present and their former names."""


def reaches(node: NodeInfo, volume: PersistentVolume) -> bool:
    """Report whether a node reaches a volume (`CheckNodeAffinity`)."""
    terms = read_node_selector((volume.spec.node_affinity or {}).get("required"))
    return terms is None or any(term.matches(node.name, node.labels) for term in terms)


def find_claims(pod: Pod, cluster: Cluster) -> Iterator[PersistentVolumeClaim]:
    """Yield the claims of a pod. Raise NoPlace for one that is not there yet, or is another's."""
    namespace = pod.metadata.namespace
    ephemeral = {v.claim(pod.metadata.name) for v in pod.spec.volumes if v.ephemeral is not None}
    for key in claims_of(pod):
        name = key.partition("/")[2]
        claim = None if cluster.claims is None else cluster.claims.get(namespace, name)
        if claim is None and name in ephemeral:
            raise NoPlace(f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"', "")
        if claim is None:
            raise NoPlace(f'persistentvolumeclaim "{name}" not found', VolumeBinding.plugin)
        if claim.status.phase == "Lost":
            text = f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
            raise NoPlace(text, VolumeBinding.plugin)
        if claim.metadata.is_deleting:
            raise NoPlace(f'persistentvolumeclaim "{name}" is being deleted', VolumeBinding.plugin)
        if name in ephemeral and not is_claim_of(claim, pod):
            text = f'PVC "{key}" was not created for pod "{namespace}/{pod.metadata.name}" (pod is not owner)'
            raise NoPlace(text, VolumeBinding.plugin)
        yield claim


class VolumeFilter(Filter):
    """A filter of pods with claims."""

    @classmethod
    def concerns(cls, pod: PodInfo, _: Cluster) -> bool:
        return pod.pod.has_claims


class VolumeRestrictions(VolumeFilter):
    """Refuse nodes while a claim for one pod is in use."""

    plugin = "VolumeRestrictions"
    REASON = (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another "
        "pod"
    )
    REFUSAL = Refusal((REASON,), False, plugin)

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        super().__init__(pod, cluster)
        claims = (claim for claim in find_claims(pod.pod, cluster) if ONE_POD in claim.spec.access_modes)
        self._keys = {f"{claim.metadata.namespace}/{claim.metadata.name}" for claim in claims}
        self._users = sum(self._shares(info) for node in cluster.nodes.values() for info in node.pods.values())

    def _shares(self, info: PodInfo) -> bool:
        return bool(self._keys) and not self._keys.isdisjoint(claims_of(info.pod))

    def add(self, node: NodeInfo, pod: PodInfo) -> None:
        self._users += self._shares(pod)

    def remove(self, node: NodeInfo, pod: PodInfo) -> None:
        self._users -= self._shares(pod)

    def refuse(self, node: NodeInfo) -> Refusal | None:
        return self.REFUSAL if self._users else None


class VolumeBinding(VolumeFilter):
    """Refuse nodes that do not reach a volume of the pod, or have none for a claim that waits for it."""

    plugin = "VolumeBinding"
    CONFLICT = Refusal(("node(s) didn't match PersistentVolume's node affinity",), True, plugin)
    NOTHING = Refusal(("node(s) didn't find available persistent volumes to bind",), True, plugin)
    GONE = Refusal(("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",), True, plugin)

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        super().__init__(pod, cluster)
        self._bound: list[PersistentVolume | None] = []
        self._waiting: list[PersistentVolumeClaim] = []
        assert cluster.volumes is not None
        for claim in find_claims(pod.pod, cluster):
            if claim.is_bound:
                self._bound.append(cluster.volumes.get("", claim.spec.volume_name))
            elif claim.spec.volume_name or not self._delays(claim):
                raise NoPlace("pod has unbound immediate PersistentVolumeClaims", self.plugin)
            else:
                self._waiting.append(claim)
        # Those that ask for more come first, so that a small claim takes no large volume that another one needs.
        self._waiting.sort(key=lambda claim: claim.size)

    def _delays(self, claim: PersistentVolumeClaim) -> bool:
        chosen = None if self.cluster.classes is None else self.cluster.classes.get("", claim.storage_class)
        return chosen is not None and chosen.volume_binding_mode == WAITS

    def refuse(self, node: NodeInfo) -> Refusal | None:
        for volume in self._bound:
            if volume is None:
                return self.GONE
            if not reaches(node, volume):
                return self.CONFLICT
        return self.NOTHING if self._waiting and self.decide(node) is None else None

    def decide(self, node: NodeInfo) -> list[tuple[PersistentVolumeClaim, PersistentVolume | None]] | None:
        """Return a volume for each claim that waits, or None for one to be provisioned; None if one gets none."""
        assert self.cluster.volumes is not None
        found: list[tuple[PersistentVolumeClaim, PersistentVolume | None]] = []
        taken: set[str] = set()
        for claim in self._waiting:
            selected = claim.metadata.annotations.get(SELECTED_NODE)
            if selected is not None and selected != node.name:
                return None
            volume = None
            if selected is None:
                volume = find_matching_volume(
                    claim, self.cluster.volumes, on_node=lambda v: reaches(node, v), excluded=taken, delays=True
                )
            if volume is not None:
                taken.add(volume.metadata.name)
            elif not self._can_provision(claim, node):
                return None
            found.append((claim, volume))
        return found

    def _can_provision(self, claim: PersistentVolumeClaim, node: NodeInfo) -> bool:
        """Report whether a provisioner may make a volume for a node (`checkVolumeProvisions`)."""
        chosen = None if self.cluster.classes is None else self.cluster.classes.get("", claim.storage_class)
        if chosen is None or chosen.provisioner in ("", NO_PROVISIONER):
            return False
        terms = [term.get("matchLabelExpressions") or () for term in chosen.allowed_topologies]
        return not terms or any(all(node.labels.get(e["key"]) in e["values"] for e in term) for term in terms)


class VolumeZone(VolumeFilter):
    """Refuse nodes of other zones than the volumes of a pod."""

    plugin = "VolumeZone"
    REFUSAL = Refusal(("node(s) had no available volume zone",), True, plugin)

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        super().__init__(pod, cluster)
        self._zones: list[tuple[tuple[str, ...], frozenset[str]]] = []
        """The names of a label, and the values of a volume, of which a node has one."""
        assert cluster.volumes is not None
        for claim in find_claims(pod.pod, cluster):
            volume = cluster.volumes.get("", claim.spec.volume_name) if claim.spec.volume_name else None
            for names in () if volume is None else ZONES:
                for name in names:
                    if (value := volume.metadata.labels.get(name)) is not None:  # type: ignore[union-attr] # checked above
                        self._zones.append((names, frozenset(value.split("__"))))

    def refuse(self, node: NodeInfo) -> Refusal | None:
        present = [name for names in ZONES for name in names if name in node.labels]
        if not present:
            # A node of no zone is one of a cluster with a single zone.
            return None
        for names, values in self._zones:
            if all(node.labels.get(name) not in values for name in names):
                return self.REFUSAL
        return None
