"""What becomes of a volume whose claim has gone (`reclaimVolume`).

No plug-in of a volume runs here: a path of a host is removed or emptied by saying so, and all else is left to an
external provisioner, or refused as upstream refuses what none of its plug-ins can do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hydrofoil.controllers.objects.pods import Pod, claims_of
from hydrofoil.controllers.objects.volumes import PROVISIONED_BY, PersistentVolume
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING

if TYPE_CHECKING:
    from hydrofoil.controllers.volumes.binder import VolumeBinder

TEMPORARY = "/tmp/"


async def reclaim(binder: VolumeBinder, volume: PersistentVolume) -> None:
    """Keep, empty or delete a released volume."""
    match volume.spec.persistent_volume_reclaim_policy:
        case "Recycle":
            await _recycle(binder, volume)
        case "Delete":
            await _delete(binder, volume)


async def _fail(binder: VolumeBinder, volume: PersistentVolume, reason: str, message: str) -> None:
    if volume.status.phase != "Failed":
        await binder.set_phase(volume, "Failed", message)
        binder.tell_volume(volume, WARNING, reason, message)


async def _recycle(binder: VolumeBinder, volume: PersistentVolume) -> None:
    ref = volume.spec.claim_ref
    if ref is not None:
        users = binder.lister("", "pods", Pod).index(claims_of).get(f"{ref.namespace}/{ref.name}")
        names = sorted(f"{p.metadata.namespace}/{p.metadata.name}" for p in users if not p.is_ended)
        if names:
            text = f"Volume is used by pods: {','.join(names)}"
            return binder.tell_volume(volume, NORMAL, "VolumeFailedRecycle", text)
    if volume.spec.host_path is None and volume.spec.nfs is None:
        return await _fail(binder, volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
    binder.tell_volume(volume, NORMAL, "VolumeRecycled", "Volume recycled")
    return await binder.unbind_volume(volume)


async def _delete(binder: VolumeBinder, volume: PersistentVolume) -> None:
    name = volume.metadata.name
    provisioner = volume.metadata.annotations.get(PROVISIONED_BY)
    if provisioner is not None and not provisioner.startswith("kubernetes.io/"):
        return None
    path = volume.spec.host_path
    if path is None:
        text = f'error getting deleter volume plugin for volume "{name}": no deletable volume plugin matched'
        return await _fail(binder, volume, "VolumeFailedDelete", text)
    if not str(path.get("path", "")).startswith(TEMPORARY):
        text = f"host_path deleter only supports /tmp/.+ but received provided {path.get('path', '')}"
        return await _fail(binder, volume, "VolumeFailedDelete", text)
    return await binder.client.delete(binder.resource("", "persistentvolumes"), "", name, uid=volume.metadata.uid)
