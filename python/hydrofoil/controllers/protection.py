"""Storage objects in use outlive their deletion (kube-controller-manager `pkg/controller/volume/*protection`).

The StorageObjectInUseProtection admission plug-in gives each of them a finalizer at create. These controllers take
it off when the object is being deleted and nothing uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.base import Controller
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError


class ProtectionController(Controller):
    """Takes one finalizer off objects of one resource that are being deleted."""

    target: tuple[str, str]
    """Group and plural of what is protected."""
    users: tuple[tuple[str, str], ...] = ()
    """Group and plural of what may use it."""
    finalizer: str

    def __init__(self, registry: Any, hub: Any) -> None:
        super().__init__(registry, hub)
        self._waiting: set[tuple[str, str]] = set()

    def resource(self, group: str, plural: str) -> Resource:
        """A resource of version v1."""
        found = self.registry.catalog.find(group, "v1", plural)
        if found is None:
            raise errors.no_such_resource()
        return found

    def resources(self) -> Iterable[Resource]:
        return [self.resource(*key) for key in (self.target, *self.users)]

    def event(self, resource: Resource, kind: str, metadata: dict[str, object]) -> None:
        namespace = str(metadata.get("namespace", ""))
        if resource.storage != self.target:
            # What used an object may do so no more.
            for key in self._waiting:
                if namespace in ("", key[0]) or not key[0]:
                    self.put(*key)
            return
        key = (namespace, str(metadata["name"]))
        if kind == "DELETED":
            self._waiting.discard(key)
        elif metadata.get("deletionTimestamp"):
            self._waiting.add(key)
            self.put(*key)

    async def work(self, key: tuple[str, ...]) -> bool:
        """Takes the finalizer off an object that nothing uses; one in use waits for the next event."""
        namespace, name = key
        resource = self.resource(*self.target)
        stored = self.registry.collection(resource).get(resource.native, namespace, name)
        if stored is None:
            return True
        _, deleted, _, finalizers = stored.thaw().lifecycle()
        if not deleted or self.finalizer not in finalizers or self.used(namespace, name, orjson.loads(stored.json)):
            return True

        def change(old: Stored) -> Draft:
            draft = old.thaw()
            kept = [f for f in draft.lifecycle()[3] if f != self.finalizer]
            draft.set(["metadata", "finalizers"], orjson.dumps(kept) if kept else None)
            return draft

        try:
            await self.registry.update(resource, namespace, name, change, warnings=[])
        except ApiError as e:
            if e.code not in (404, 409):
                raise
        return True

    def used(self, namespace: str, name: str, value: dict[str, Any]) -> bool:
        """Whether something uses the object."""
        raise NotImplementedError

    def everything(self, group: str, plural: str, namespace: str = "") -> Iterable[dict[str, Any]]:
        """All objects of a resource as JSON values."""
        for stored in self.registry.all(self.resource(group, plural), namespace):
            yield orjson.loads(stored.json)


class ClaimProtection(ProtectionController):
    """A claim stays while a pod on a node mounts it."""

    target = ("", "persistentvolumeclaims")
    users = (("", "pods"),)
    finalizer = "kubernetes.io/pvc-protection"

    def used(self, namespace: str, name: str, value: dict[str, Any]) -> bool:
        return any(_mounts(pod, name, value) for pod in self.everything("", "pods", namespace))


def _mounts(pod: dict[str, Any], name: str, claim: dict[str, Any]) -> bool:
    """Whether a pod on a node uses a claim; one that was shut down no longer needs the claim made for it."""
    spec, meta = pod["spec"], pod["metadata"]
    if not spec.get("nodeName"):
        return False
    owners = claim["metadata"].get("ownerReferences", ())
    own = any(o.get("controller") and o["uid"] == meta["uid"] for o in owners)
    shut_down = bool(meta.get("deletionTimestamp")) and meta.get("deletionGracePeriodSeconds") == 0
    for volume in spec.get("volumes", ()):
        if volume.get("persistentVolumeClaim", {}).get("claimName") == name:
            return True
        if "ephemeral" in volume and own and not shut_down and f"{meta['name']}-{volume['name']}" == name:
            return True
    return False


class VolumeProtection(ProtectionController):
    """A volume stays while it is bound."""

    target = ("", "persistentvolumes")
    finalizer = "kubernetes.io/pv-protection"

    def used(self, namespace: str, name: str, value: dict[str, Any]) -> bool:
        phase: str = value.get("status", {}).get("phase", "")
        return phase == "Bound"


class AttributesClassProtection(ProtectionController):
    """A class of volume attributes stays while a claim or volume names it."""

    target = ("storage.k8s.io", "volumeattributesclasses")
    users = (("", "persistentvolumeclaims"), ("", "persistentvolumes"))
    finalizer = "kubernetes.io/vac-protection"

    def used(self, namespace: str, name: str, value: dict[str, Any]) -> bool:
        for plural in ("persistentvolumes", "persistentvolumeclaims"):
            for user in self.everything("", plural):
                status = user.get("status", {})
                target = status.get("modifyVolumeStatus", {}).get("targetVolumeAttributesClassName")
                named = (user["spec"].get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"))
                if name in (*named, target):
                    return True
        return False


PROTECTIONS: dict[str, type[ProtectionController]] = {
    "pvc-protection": ClaimProtection,
    "pv-protection": VolumeProtection,
    "vac-protection": AttributesClassProtection,
}
"""By the names under which kube-controller-manager knows them."""
