"""Volumes, claims and classes of storage, and what binds them (component-helpers `storage/volume`)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hydrofoil.controllers.objects.meta import LabelSelector, ObjectMeta
from hydrofoil.controllers.objects.quantities import parse_amount

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
PROVISIONER, BETA_PROVISIONER = (
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
)
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
"""The annotation with the class of claims and volumes, which wins over the field."""
DEFAULT_CLASS, BETA_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
NO_PROVISIONER = "kubernetes.io/no-provisioner"
WAITS = "WaitForFirstConsumer"


class ObjectReference(Struct, frozen=True, gc=False, rename="camel"):
    """The claim that has a volume."""

    name: str = ""
    namespace: str = ""
    uid: str = ""


class PersistentVolumeSpec(Struct, frozen=True, gc=False, rename="camel"):
    """What a volume offers."""

    capacity: dict[str, str] = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    persistent_volume_reclaim_policy: str = "Retain"
    volume_mode: str = "Filesystem"
    node_affinity: dict[str, Any] | None = None
    volume_attributes_class_name: str | None = None
    host_path: dict[str, Any] | None = None
    nfs: dict[str, Any] | None = None
    csi: dict[str, Any] | None = None


class Phase(Struct, frozen=True, gc=False, rename="camel"):
    """The phase of a volume."""

    phase: str = ""


class PersistentVolume(Struct, frozen=True, gc=False):
    """A volume."""

    metadata: ObjectMeta
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: Phase = Phase()

    @property
    def storage_class(self) -> str:
        """Return its class; empty: none (`GetPersistentVolumeClass`)."""
        return self.metadata.annotations.get(BETA_CLASS, self.spec.storage_class_name)

    @property
    def size(self) -> int:
        """Return its size in bytes."""
        return parse_amount("storage", self.spec.capacity.get("storage", "0"))


class PersistentVolumeClaimSpec(Struct, frozen=True, gc=False, rename="camel"):
    """What a claim asks for."""

    access_modes: tuple[str, ...] = ()
    resources: dict[str, Any] = {}
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_name: str = ""
    volume_mode: str = "Filesystem"
    volume_attributes_class_name: str | None = None
    data_source: dict[str, Any] | None = None


class PersistentVolumeClaimStatus(Struct, frozen=True, gc=False, rename="camel"):
    """What a claim has."""

    phase: str = ""
    access_modes: tuple[str, ...] | None = None
    capacity: dict[str, str] | None = None
    current_volume_attributes_class_name: str | None = None


class PersistentVolumeClaim(Struct, frozen=True, gc=False):
    """A claim."""

    metadata: ObjectMeta
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()

    @property
    def storage_class(self) -> str:
        """Return its class; empty: none (`GetPersistentVolumeClaimClass`)."""
        return self.metadata.annotations.get(BETA_CLASS, self.spec.storage_class_name or "")

    @property
    def has_class(self) -> bool:
        """Report whether it names a class, which may be the empty one (`PersistentVolumeClaimHasClass`)."""
        return BETA_CLASS in self.metadata.annotations or self.spec.storage_class_name is not None

    @property
    def size(self) -> int:
        """Return the bytes that it asks for."""
        return parse_amount("storage", str((self.spec.resources.get("requests") or {}).get("storage", "0")))

    @property
    def is_bound(self) -> bool:
        """Report whether its binding is complete (`isPVCFullyBound`)."""
        return bool(self.spec.volume_name) and BIND_COMPLETED in self.metadata.annotations


class StorageClass(Struct, frozen=True, gc=False, rename="camel"):
    """A class of storage."""

    metadata: ObjectMeta
    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    reclaim_policy: str = "Delete"
    allowed_topologies: tuple[dict[str, Any], ...] = ()

    @property
    def is_default(self) -> bool:
        """Report whether claims without a class get it."""
        annotations = self.metadata.annotations
        return "true" in (annotations.get(DEFAULT_CLASS), annotations.get(BETA_DEFAULT_CLASS))


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Report whether a volume is for a claim (`IsVolumeBoundToClaim`): a reference by name alone is an offer."""
    ref = volume.spec.claim_ref
    return (
        ref is not None
        and (ref.namespace, ref.name) == (claim.metadata.namespace, claim.metadata.name)
        and ref.uid in ("", claim.metadata.uid)
    )


def why_unfit(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Return why a volume does not do for a claim that names it; empty if it does (`checkVolumeSatisfyClaim`)."""
    if volume.metadata.is_deleting:
        return f'the volume is marked for deletion "{volume.metadata.name}"'
    if volume.size < claim.size:
        return "requested PV is too small"
    if volume.storage_class != claim.storage_class:
        return "storageClassName does not match"
    if (volume.spec.volume_attributes_class_name or "") != (claim.spec.volume_attributes_class_name or ""):
        return "volumeAttributesClassName does not match"
    if volume.spec.volume_mode != claim.spec.volume_mode:
        return "incompatible volumeMode"
    if not set(claim.spec.access_modes) <= set(volume.spec.access_modes):
        return "incompatible accessMode"
    return ""
