"""Volumes of CSI drivers are attached to the nodes of their pods (`pkg/controller/volume/attachdetach`).

The attachments are made and removed as upstream makes them; whether a driver has attached one is the business of its
own attacher, and a simulated node does not wait for it.
"""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec import Struct

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.objects.pods import VOLUMES, Pod, claims_of
from hydrofoil.controllers.objects.volumes import PersistentVolume, PersistentVolumeClaim
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.errors import ApiError

GROUP = "storage.k8s.io"


class DriverSpec(Struct, frozen=True, gc=False, rename="camel"):
    """What a driver asks of the cluster."""

    attach_required: bool | None = None


class Driver(Struct, frozen=True, gc=False):
    """A CSIDriver."""

    metadata: ObjectMeta
    spec: DriverSpec = DriverSpec()


class AttachmentSource(Struct, frozen=True, gc=False, rename="camel"):
    """The volume that is attached."""

    persistent_volume_name: str | None = None


class AttachmentSpec(Struct, frozen=True, gc=False, rename="camel"):
    """What is attached where."""

    attacher: str = ""
    node_name: str = ""
    source: AttachmentSource = AttachmentSource()


class Attachment(Struct, frozen=True, gc=False):
    """A VolumeAttachment."""

    metadata: ObjectMeta
    spec: AttachmentSpec = AttachmentSpec()


def attachment_name(handle: str, driver: str, node: str) -> str:
    """Return the name of an attachment (`csi.getAttachmentName`)."""
    return "csi-" + hashlib.sha256(f"{handle}{driver}{node}".encode()).hexdigest()


class AttachDetach(Controller):
    """Keep the attachments of a volume. A key is the name of one."""

    name = "persistentvolume-attach-detach"
    user = service_account("attachdetach-controller")

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it needs are served."""
        core = (("", "pods"), ("", "persistentvolumes"), ("", "persistentvolumeclaims"))
        return all_served(catalog, *core, (GROUP, "volumeattachments"), (GROUP, "csidrivers"))

    def watches(self) -> list[ValueWatch[Any]]:
        return [
            self.watch(GROUP, "csidrivers", Driver, None),
            self.watch("", "persistentvolumeclaims", PersistentVolumeClaim, self._on_claim),
            self.watch("", "persistentvolumes", PersistentVolume, self._on_volume),
            self.watch(GROUP, "volumeattachments", Attachment, None),
            self.watch("", "pods", Pod, self._on_pod, VOLUMES),
        ]

    def _on_claim(self, _: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None) -> None:
        if new is not None and new.spec.volume_name:
            self.put(new.spec.volume_name)

    def _on_volume(self, old: PersistentVolume | None, new: PersistentVolume | None) -> None:
        found = new or old
        if found is not None and found.spec.csi is not None:
            self.put(found.metadata.name)

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        if pod is None or not pod.spec.node_name or not pod.spec.volumes:
            return
        claims = self.lister("", "persistentvolumeclaims", PersistentVolumeClaim)
        for key in claims_of(pod):
            claim = claims.get(*key.split("/", 1))
            if claim is not None and claim.spec.volume_name:
                self.put(claim.spec.volume_name)

    async def work(self, key: tuple[str, ...]) -> bool:
        (name,) = key
        volume = self.lister("", "persistentvolumes", PersistentVolume).get("", name)
        wanted = {} if volume is None else self._wanted(volume)
        resource = self.resource(GROUP, "volumeattachments")
        try:
            for attachment in list(self.lister(GROUP, "volumeattachments", Attachment)):
                meta = attachment.metadata
                if attachment.spec.source.persistent_volume_name != name or wanted.pop(meta.name, None) is not None:
                    continue
                if not meta.is_deleting:
                    await self.client.delete(resource, "", meta.name, uid=meta.uid)
            for title, spec in wanted.items():
                await self.client.create(resource, "", {"metadata": {"name": title}, "spec": spec})
        except ApiError as e:
            if e.code != 404:
                raise
        return True

    def _wanted(self, volume: PersistentVolume) -> dict[str, dict[str, Any]]:
        """Return the attachments that the pods of a volume ask for, by name."""
        csi, ref = volume.spec.csi, volume.spec.claim_ref
        if csi is None or ref is None:
            return {}
        driver = self.lister(GROUP, "csidrivers", Driver).get("", csi["driver"])
        if driver is not None and driver.spec.attach_required is False:
            return {}
        found = {}
        for pod in self.lister("", "pods", Pod).index(claims_of).get(f"{ref.namespace}/{ref.name}"):
            node = pod.spec.node_name
            if node and not pod.is_ended:
                title = attachment_name(csi["volumeHandle"], csi["driver"], node)
                source = {"persistentVolumeName": volume.metadata.name}
                found[title] = {"attacher": csi["driver"], "nodeName": node, "source": source}
        return found
