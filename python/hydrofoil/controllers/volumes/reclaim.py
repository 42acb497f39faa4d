"""What becomes of a volume whose claim has gone (`reclaimVolume`).

No plug-in of a volume runs here: a path of a host is removed or emptied by saying so, and all else is left to an
external provisioner, or refused as upstream refuses what none of its plug-ins can do.
"""

from __future__ import annotations

from typing import Protocol

from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.volumes import PROVISIONED_BY, PersistentVolume
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING

TEMPORARY = "/tmp/"


class Volumes(Protocol):
    """The writes of the controller of volumes."""

    async def set_phase(self, volume: PersistentVolume, phase: str, message: str = "") -> None:
        """Write the phase of a volume."""

    async def unbind_volume(self, volume: PersistentVolume) -> None:
        """Have a volume refer to no claim."""

    async def delete_volume(self, volume: PersistentVolume) -> None:
        """Delete a volume."""

    def tell_volume(self, volume: PersistentVolume, kind: str, reason: str, message: str) -> None:
        """Record an event about a volume."""

    def users_of(self, namespace: str, claim: str) -> list[Pod]:
        """Return the pods that use a claim."""


async def reclaim(volumes: Volumes, volume: PersistentVolume) -> None:
    """Keep, empty or delete a released volume."""
    match volume.spec.persistent_volume_reclaim_policy:
        case "Recycle":
            await _recycle(volumes, volume)
        case "Delete":
            await _delete(volumes, volume)


async def _fail(volumes: Volumes, volume: PersistentVolume, reason: str, message: str) -> None:
    if volume.status.phase != "Failed":
        await volumes.set_phase(volume, "Failed", message)
        volumes.tell_volume(volume, WARNING, reason, message)


async def _recycle(volumes: Volumes, volume: PersistentVolume) -> None:
    ref = volume.spec.claim_ref
    if ref is not None:
        users = volumes.users_of(ref.namespace, ref.name)
        names = sorted(f"{p.metadata.namespace}/{p.metadata.name}" for p in users if not p.is_ended)
        if names:
            text = f"Volume is used by pods: {','.join(names)}"
            return volumes.tell_volume(volume, NORMAL, "VolumeFailedRecycle", text)
    if volume.spec.host_path is None and volume.spec.nfs is None:
        return await _fail(volumes, volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
    volumes.tell_volume(volume, NORMAL, "VolumeRecycled", "Volume recycled")
    return await volumes.unbind_volume(volume)


async def _delete(volumes: Volumes, volume: PersistentVolume) -> None:
    name = volume.metadata.name
    provisioner = volume.metadata.annotations.get(PROVISIONED_BY)
    if provisioner is not None and not provisioner.startswith("kubernetes.io/"):
        return None
    path = volume.spec.host_path
    if path is None:
        text = f'error getting deleter volume plugin for volume "{name}": no deletable volume plugin matched'
        return await _fail(volumes, volume, "VolumeFailedDelete", text)
    if not str(path.get("path", "")).startswith(TEMPORARY):
        text = f"host_path deleter only supports /tmp/.+ but received provided {path.get('path', '')}"
        return await _fail(volumes, volume, "VolumeFailedDelete", text)
    return await volumes.delete_volume(volume)
