"""Claims get volumes, and volumes are released (`pkg/controller/volume/persistentvolume/pv_controller.go`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog
from hydrofoil.clock import Timer
from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.objects.pods import Pod, claims_of
from hydrofoil.controllers.objects.volumes import (
    BETA_PROVISIONER,
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    PROVISIONER,
    SELECTED_NODE,
    WAITS,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    is_bound_to,
    why_unfit,
)
from hydrofoil.controllers.options import ControllerOptions
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.volumes.matching import find_matching_volume
from hydrofoil.controllers.volumes.reclaim import reclaim
from hydrofoil.engine import Draft
from hydrofoil.errors import ApiError

BUILT_IN = "kubernetes.io/"
PENDING, BOUND, LOST = "Pending", "Bound", "Lost"
AVAILABLE, RELEASED, FAILED = "Available", "Released", "Failed"
CONSUMER = "waiting for first consumer to be created before binding"


class VolumeBinder(Controller):
    """Bind claims. A key is (name,) of a volume or (namespace, name) of a claim."""

    name = "persistentvolume-binder"
    user = service_account("persistent-volume-binder")

    def __init__(self, runtime: Runtime, options: ControllerOptions) -> None:
        super().__init__(runtime)
        self._period = options.pvclaimbinder_sync_period
        self._recorder = runtime.recorder("persistentvolume-controller", self.user)
        self._timer: Timer | None = None

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it needs are served."""
        core = (("", "persistentvolumes"), ("", "persistentvolumeclaims"), ("", "pods"))
        return all_served(catalog, *core, ("storage.k8s.io", "storageclasses"))

    def watches(self) -> list[ValueWatch[Any]]:
        return [
            self.watch("storage.k8s.io", "storageclasses", StorageClass, self._on_class),
            self.watch("", "persistentvolumes", PersistentVolume, self._on_volume),
            self.watch("", "persistentvolumeclaims", PersistentVolumeClaim, self._on_claim),
            self.watch("", "pods", Pod, None),
        ]

    def start(self) -> None:
        super().start()
        self._timer = self.registry.clock.later(self._period, self._beat, repeats=True)

    def _beat(self) -> None:
        """Look at claims without a volume again: their events are repeated as upstream's."""
        self._timer = self.registry.clock.later(self._period, self._beat, repeats=True)
        self._put_unbound()

    async def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await super().stop()
        await self._recorder.close()

    # What changes

    def _on_class(self, old: StorageClass | None, new: StorageClass | None) -> None:
        if new is not None:
            self._put_unbound()

    def _put_unbound(self) -> None:
        for claim in self.lister("", "persistentvolumeclaims", PersistentVolumeClaim):
            if BIND_COMPLETED not in claim.metadata.annotations:
                self.put(claim.metadata.namespace, claim.metadata.name)

    def _on_volume(self, old: PersistentVolume | None, new: PersistentVolume | None) -> None:
        either = new or old
        assert either is not None
        if new is not None:
            self.put(new.metadata.name)
            if new.spec.claim_ref is None and new.status.phase == AVAILABLE:
                self._offer(new)
        for ref in {v.spec.claim_ref for v in (old, new) if v is not None and v.spec.claim_ref is not None}:
            self.put(ref.namespace, ref.name)

    def _offer(self, volume: PersistentVolume) -> None:
        """Look again at the first claim that may have waited for such a volume; others wait for the next beat."""
        for claim in self.lister("", "persistentvolumeclaims", PersistentVolumeClaim):
            if not claim.spec.volume_name and find_matching_volume(claim, (volume,)) is not None:
                self.put(claim.metadata.namespace, claim.metadata.name)
                return

    def _on_claim(self, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None) -> None:
        if new is not None:
            self.put(new.metadata.namespace, new.metadata.name)
        elif old is not None and old.spec.volume_name:
            self.put(old.spec.volume_name)

    async def work(self, key: tuple[str, ...]) -> bool:
        try:
            if len(key) == 1:
                await self._sync_volume(key[0])
            else:
                await self._sync_claim(*key)
        except ApiError as e:
            # Another version has come meanwhile: its event queues the key.
            if e.code not in (404, 409):
                raise
            return e.code == 404
        return True

    def _volume(self, name: str) -> PersistentVolume | None:
        return self.lister("", "persistentvolumes", PersistentVolume).get("", name)

    def _claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        return self.lister("", "persistentvolumeclaims", PersistentVolumeClaim).get(namespace, name)

    def _tell(self, claim: PersistentVolumeClaim, kind: str, reason: str, message: str) -> None:
        self._recorder.record(claim.metadata.reference("v1", "PersistentVolumeClaim"), kind, reason, message)

    def tell_volume(self, volume: PersistentVolume, kind: str, reason: str, message: str) -> None:
        """Record an event about a volume."""
        self._recorder.record(volume.metadata.reference("v1", "PersistentVolume"), kind, reason, message)

    def users_of(self, namespace: str, claim: str) -> list[Pod]:
        """Return the pods that use a claim."""
        return self.lister("", "pods", Pod).index(claims_of).get(f"{namespace}/{claim}")

    # Claims

    async def _sync_claim(self, namespace: str, name: str) -> None:
        claim = self._claim(namespace, name)
        if claim is None:
            return
        if BIND_COMPLETED in claim.metadata.annotations:
            await self._sync_bound(claim)
        elif claim.spec.volume_name:
            await self._sync_named(claim)
        else:
            await self._sync_unbound(claim)

    async def _sync_unbound(self, claim: PersistentVolumeClaim) -> None:
        """Find a volume for a claim, or say what it waits for (`syncUnboundClaim`)."""
        classes = self.lister("storage.k8s.io", "storageclasses", StorageClass)
        chosen = classes.get("", claim.storage_class)
        delays = chosen is not None and chosen.volume_binding_mode == WAITS
        volumes = self.lister("", "persistentvolumes", PersistentVolume)
        if (volume := find_matching_volume(claim, volumes, delays=delays)) is not None:
            return await self._bind(volume, claim)
        if not claim.has_class:
            defaults = [c for c in classes if c.is_default]
            if defaults:
                # The newest, and of those the first by name.
                newest = max(c.metadata.creation_timestamp for c in defaults)
                given = min(c.metadata.name for c in defaults if c.metadata.creation_timestamp == newest)
                value = orjson.dumps(given)
                return await self._change_claim(claim, lambda draft: draft.set(["spec", "storageClassName"], value))
        if delays and SELECTED_NODE not in claim.metadata.annotations:
            self._tell_of_delay(claim)
        elif claim.storage_class:
            return await self._provision(claim, chosen)
        else:
            text = "no persistent volumes available for this claim and no storage class is set"
            self._tell(claim, NORMAL, "FailedBinding", text)
        return await self._set_claim_status(claim, PENDING, None)

    def _tell_of_delay(self, claim: PersistentVolumeClaim) -> None:
        """Say which pods a claim waits for (`emitEventForUnboundDelayBindingClaim`)."""
        meta = claim.metadata
        users = self.users_of(meta.namespace, meta.name)
        names = [pod.metadata.name for pod in users if not pod.spec.node_name and not pod.is_ended]
        if not names:
            self._tell(claim, NORMAL, "WaitForFirstConsumer", CONSUMER)
        else:
            pods = f"pod {names[0]}" if len(names) == 1 else f"pods {','.join(names)}"
            self._tell(claim, NORMAL, "WaitForPodScheduled", f"waiting for {pods} to be scheduled")

    async def _provision(self, claim: PersistentVolumeClaim, chosen: StorageClass | None) -> None:
        """Ask an external provisioner for a volume (`provisionClaim`): none is built in."""
        if chosen is None:
            text = f'storageclass.storage.k8s.io "{claim.storage_class}" not found'
            return self._tell(claim, WARNING, "ProvisioningFailed", text)
        provisioner = chosen.provisioner
        if provisioner.startswith(BUILT_IN):
            text = f"no volume plugin matched name: {provisioner}"
            return self._tell(claim, WARNING, "ProvisioningFailed", text)
        if claim.metadata.annotations.get(PROVISIONER) != provisioner:
            marks = {PROVISIONER: provisioner, BETA_PROVISIONER: provisioner}
            await self._change_claim(claim, lambda draft: _annotate(draft, marks))
        text = (
            f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the "
            "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
            "correctly registered."
        )
        return self._tell(claim, NORMAL, "ExternalProvisioning", text)

    async def _sync_named(self, claim: PersistentVolumeClaim) -> None:
        """Bind a claim to the volume that it asks for."""
        volume = self._volume(claim.spec.volume_name)
        if volume is None:
            return await self._set_claim_status(claim, PENDING, None)
        if volume.spec.claim_ref is None:
            if why := why_unfit(volume, claim):
                text = f'Cannot bind to requested volume "{volume.metadata.name}": {why}'
                self._tell(claim, WARNING, "VolumeMismatch", text)
                return await self._set_claim_status(claim, PENDING, None)
            return await self._bind(volume, claim)
        if is_bound_to(volume, claim):
            return await self._bind(volume, claim)
        text = f'volume "{volume.metadata.name}" already bound to a different claim.'
        self._tell(claim, WARNING, "FailedBinding", text)
        return await self._set_claim_status(claim, PENDING, None)

    async def _sync_bound(self, claim: PersistentVolumeClaim) -> None:
        """Keep a claim bound, or say that its volume is lost (`syncBoundClaim`)."""
        if not claim.spec.volume_name:
            return await self._lose(claim, "ClaimLost", "Bound claim has lost reference to PersistentVolume.")
        volume = self._volume(claim.spec.volume_name)
        if volume is None:
            return await self._lose(claim, "ClaimLost", "Bound claim has lost its PersistentVolume.")
        ref = volume.spec.claim_ref
        if ref is None or ref.uid == claim.metadata.uid:
            return await self._bind(volume, claim)
        if claim.status.phase != LOST:
            await self._set_claim_status(claim, LOST, None)
            text = "Two claims are bound to the same volume, this one is bound incorrectly"
            self._tell(claim, WARNING, "ClaimMisbound", text)
        return None

    async def _lose(self, claim: PersistentVolumeClaim, reason: str, message: str) -> None:
        if claim.status.phase != LOST:
            await self._set_claim_status(claim, LOST, None)
            self._tell(claim, WARNING, reason, f"{message} Data on the volume is lost!")

    async def _bind(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        """Bind both, step by step: each step is repeated after a failure, and changes nothing where it is done."""
        await self.bind_volume(volume, claim)
        await self.set_phase(volume, BOUND)
        marks, name = claim.metadata.annotations, volume.metadata.name
        wanted = {BIND_COMPLETED: "yes"}
        if claim.spec.volume_name != name:
            wanted[BOUND_BY_CONTROLLER] = "yes"
        if not wanted.keys() <= marks.keys() or claim.spec.volume_name != name:

            def change(draft: Draft) -> None:
                draft.set(["spec", "volumeName"], orjson.dumps(name))
                _annotate(draft, wanted)

            await self._change_claim(claim, change)
        await self._set_claim_status(claim, BOUND, volume)

    async def bind_volume(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        """Have a volume refer to its claim (`bindVolumeToClaim`)."""
        change = bind_to_claim(volume, claim)
        if change is not None:
            await self.change_volume(volume, change)

    async def _change_claim(self, claim: PersistentVolumeClaim, change: Any) -> None:
        meta = claim.metadata
        claims = self.resource("", "persistentvolumeclaims")

        def check(draft: Draft) -> None:
            check_uid(draft, meta)
            change(draft)

        await self.client.update(claims, meta.namespace, meta.name, check)

    async def _set_claim_status(
        self, claim: PersistentVolumeClaim, phase: str, volume: PersistentVolume | None
    ) -> None:
        """Write the phase of a claim, and what its volume gives it (`updateClaimStatus`)."""
        status = claim.status
        wanted: dict[str, Any] = {"phase": phase}
        if volume is not None:
            wanted["accessModes"] = list(volume.spec.access_modes)
            wanted["capacity"] = status.capacity
            if status.phase != phase:
                wanted["capacity"] = volume.spec.capacity
            if attributes := volume.spec.volume_attributes_class_name:
                wanted["currentVolumeAttributesClassName"] = attributes
        present: dict[str, Any] = {"phase": status.phase}
        if status.access_modes is not None:
            present["accessModes"] = list(status.access_modes)
        if status.capacity is not None:
            present["capacity"] = status.capacity
        if status.current_volume_attributes_class_name is not None:
            present["currentVolumeAttributesClassName"] = status.current_volume_attributes_class_name
        if wanted == present:
            return
        meta = claim.metadata

        def change(draft: Draft) -> None:
            check_uid(draft, meta)
            for member in ("phase", "accessModes", "capacity", "currentVolumeAttributesClassName"):
                value = wanted.get(member)
                draft.set(["status", member], None if value is None else orjson.dumps(value))

        claims = self.resource("", "persistentvolumeclaims")
        await self.client.update(claims, meta.namespace, meta.name, change, subresource="status")

    # Volumes

    async def change_volume(self, volume: PersistentVolume, change: Any) -> None:
        """Write a volume after a change."""
        meta = volume.metadata

        def check(draft: Draft) -> None:
            check_uid(draft, meta)
            change(draft)

        await self.client.update(self.resource("", "persistentvolumes"), "", meta.name, check)

    async def set_phase(self, volume: PersistentVolume, phase: str, message: str = "") -> None:
        """Write the phase of a volume (`updateVolumePhase`)."""
        if volume.status.phase == phase:
            return
        meta = volume.metadata

        def change(draft: Draft) -> None:
            check_uid(draft, meta)
            draft.set(["status", "phase"], orjson.dumps(phase))
            draft.set(["status", "message"], orjson.dumps(message) if message else None)

        await self.client.update(self.resource("", "persistentvolumes"), "", meta.name, change, subresource="status")

    async def delete_volume(self, volume: PersistentVolume) -> None:
        """Delete a volume."""
        meta = volume.metadata
        await self.client.delete(self.resource("", "persistentvolumes"), "", meta.name, uid=meta.uid)

    async def _sync_volume(self, name: str) -> None:
        """Bring the phase of a volume in step with its claim (`syncVolume`)."""
        volume = self._volume(name)
        if volume is None:
            return None
        ref = volume.spec.claim_ref
        if ref is None or not ref.uid:
            return await self.set_phase(volume, AVAILABLE)
        claim = self._claim(ref.namespace, ref.name)
        if claim is not None and claim.metadata.uid != ref.uid:
            claim = None
        if claim is None:
            if volume.status.phase not in (RELEASED, FAILED):
                await self.set_phase(volume, RELEASED)
            return await reclaim(self, volume)
        if not claim.spec.volume_name:
            if claim.spec.volume_mode != volume.spec.volume_mode:
                text = "Cannot bind PersistentVolume to requested PersistentVolumeClaim"
                why = f'{text} "{claim.metadata.name}" due to incompatible volumeMode.'
                self.tell_volume(volume, WARNING, "VolumeMismatch", why)
                text = f'Cannot bind PersistentVolume "{name}" to requested PersistentVolumeClaim due to'
                return self._tell(claim, WARNING, "VolumeMismatch", f"{text} incompatible volumeMode.")
            return self.put(ref.namespace, ref.name)
        if claim.spec.volume_name == name:
            return await self.set_phase(volume, BOUND)
        if PROVISIONED_BY in volume.metadata.annotations and volume.spec.persistent_volume_reclaim_policy == "Delete":
            if volume.status.phase not in (RELEASED, FAILED):
                await self.set_phase(volume, RELEASED)
            return await reclaim(self, volume)
        return await self.unbind_volume(volume)

    async def unbind_volume(self, volume: PersistentVolume) -> None:
        """Have a volume refer to no claim, or to one by its name, if people have said so (`unbindVolume`)."""

        def change(draft: Draft) -> None:
            if BOUND_BY_CONTROLLER in volume.metadata.annotations:
                draft.set(["spec", "claimRef"], None)
                draft.set(["metadata", "annotations", BOUND_BY_CONTROLLER], None)
            else:
                draft.set(["spec", "claimRef", "uid"], None)

        await self.change_volume(volume, change)
        await self.set_phase(volume, AVAILABLE)


def bind_to_claim(volume: PersistentVolume, claim: PersistentVolumeClaim) -> Any:
    """Return the change by which a volume refers to its claim; None if it does (`GetBindVolumeToClaim`)."""
    meta, ref = claim.metadata, volume.spec.claim_ref
    marks = not is_bound_to(volume, claim) and BOUND_BY_CONTROLLER not in volume.metadata.annotations
    is_full = ref is not None and (ref.namespace, ref.name, ref.uid) == (meta.namespace, meta.name, meta.uid)
    if is_full and not marks:
        return None
    # Of a reference by name it is known who made it: only one of the controller's own is taken back.
    marked = {BOUND_BY_CONTROLLER: "yes"} if marks else {}

    def change(draft: Draft) -> None:
        draft.set(["spec", "claimRef"], orjson.dumps(meta.reference("v1", "PersistentVolumeClaim")))
        _annotate(draft, marked)

    return change


def _annotate(draft: Draft, annotations: dict[str, str]) -> None:
    for key, value in annotations.items():
        draft.set(["metadata", "annotations", key], orjson.dumps(value))


def check_uid(draft: Draft, meta: ObjectMeta) -> None:
    """Raise ApiError 409 if another object has the name."""
    if draft.uid != meta.uid:
        raise errors.conflict("", "objects", meta.name, "another object has its name")
