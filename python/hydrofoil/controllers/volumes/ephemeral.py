"""Claims of the ephemeral volumes of pods (`pkg/controller/volume/ephemeral/controller.go`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.objects.pods import VOLUMES, Pod
from hydrofoil.controllers.objects.volumes import PersistentVolumeClaim
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.errors import ApiError


def is_claim_of(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    """Report whether a claim was made for a pod (`ephemeral.VolumeIsForPod`)."""
    owner = claim.metadata.controller
    return owner is not None and owner.uid == pod.metadata.uid


class EphemeralVolumes(Controller):
    """Make claims. A key is (namespace, name) of a pod."""

    name = "ephemeral-volume"
    user = service_account("ephemeral-volume-controller")

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder("ephemeral_volume", self.user)

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it needs are served."""
        return all_served(catalog, ("", "pods"), ("", "persistentvolumeclaims"))

    def watches(self) -> list[ValueWatch[Any]]:
        return [
            self.watch("", "persistentvolumeclaims", PersistentVolumeClaim, self._on_claim),
            self.watch("", "pods", Pod, self._on_pod, VOLUMES),
        ]

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        if old is None and new is not None and any(volume.ephemeral is not None for volume in new.spec.volumes):
            self.put(new.metadata.namespace, new.metadata.name)

    def _on_claim(self, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None) -> None:
        owner = old.metadata.controller if new is None and old is not None else None
        if owner is not None and owner.kind == "Pod" and old is not None:
            self.put(old.metadata.namespace, owner.name)

    async def work(self, key: tuple[str, ...]) -> bool:
        pod = self.lister("", "pods", Pod).get(*key)
        if pod is None or pod.is_deleting or pod.is_ended:
            return True
        for volume in pod.spec.volumes:
            if volume.ephemeral is not None and not await self._make(pod, volume.name, volume.ephemeral):
                self.queue.refuse_key(key)
                return False
        return True

    async def _make(self, pod: Pod, volume: str, source: dict[str, Any]) -> bool:
        """Make the claim of one volume; return whether it is there."""
        meta = pod.metadata
        name = f"{meta.name}-{volume}"
        claim = self.lister("", "persistentvolumeclaims", PersistentVolumeClaim).get(meta.namespace, name)
        if claim is not None:
            if is_claim_of(claim, pod):
                return True
            text = f'PVC "{meta.namespace}/{name}" was not created for pod'
            self._fail(pod, f'{text} "{meta.namespace}/{meta.name}" (pod is not owner)')
            return False
        template = source.get("volumeClaimTemplate") or {}
        given = template.get("metadata") or {}
        metadata = {
            "name": name,
            "ownerReferences": [meta.owned_by("v1", "Pod")],
            **{member: given[member] for member in ("annotations", "labels") if member in given},
        }
        body = {"metadata": metadata, "spec": template.get("spec") or {}}
        try:
            await self.client.create(self.resource("", "persistentvolumeclaims"), meta.namespace, body)
        except ApiError as e:
            if e.code in (404, 409):
                return e.code == 404
            self._fail(pod, f"ephemeral volume controller: create PVC: {e.message}")
            return False
        return True

    def _fail(self, pod: Pod, message: str) -> None:
        self._recorder.record(pod.metadata.reference("v1", "Pod"), WARNING, "FailedBinding", message)
