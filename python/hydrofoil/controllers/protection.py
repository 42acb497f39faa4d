"""Protection of storage objects in use (kube-controller-manager `pkg/controller/volume/*protection`).

The StorageObjectInUseProtection admission plug-in adds a finalizer to each of them at creation. These controllers
remove it once the object is being deleted and unused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.runtime.controller import Controller, Watch, all_served
from hydrofoil.controllers.runtime.fields import is_deleting
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError


class ProtectionController(Controller):
    """Remove one finalizer from objects of one resource that are being deleted."""

    target: tuple[str, str]
    """Group and plural of the protected objects."""
    users: tuple[tuple[str, str], ...] = ()
    """Group and plural of the resources that may use them."""
    finalizer: str

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._waiting: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """The names of objects that are being deleted, by namespace."""

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all_served(catalog, cls.target, *cls.users)

    def watches(self) -> list[Watch]:
        target: Watch = (self.resource(*self.target), self._on_target)
        return [target, *((self.resource(*key), self._on_user) for key in self.users)]

    def _on_target(self, old: Stored | None, new: Stored | None) -> None:
        if new is None:
            assert old is not None
            self._waiting[old.namespace].pop(old.name, None)
            if not self._waiting[old.namespace]:
                del self._waiting[old.namespace]
        elif is_deleting(new):
            self._waiting[new.namespace][new.name] = None
            self.put(new.namespace, new.name)

    def _on_user(self, old: Stored | None, new: Stored | None) -> None:
        # A former user of an object may have released it.
        if not self._waiting:
            return
        namespace = (new or old).namespace  # type: ignore[union-attr] # one of them is an object
        for place in {namespace, ""} if namespace else list(self._waiting):
            for name in self._waiting.get(place, ()):
                self.put(place, name)

    async def work(self, key: tuple[str, ...]) -> bool:
        """Remove the finalizer from an unused object; one in use waits for the next event."""
        namespace, name = key
        resource = self.resource(*self.target)
        stored = self.registry.collection(resource).get(resource.native, namespace, name)
        if stored is None:
            return True
        lifecycle = stored.thaw().lifecycle()
        if not lifecycle.deletion_timestamp or self.finalizer not in lifecycle.finalizers:
            return True
        if await self.used(namespace, name, orjson.loads(stored.json)):
            return True

        def change(old: Stored) -> Draft:
            draft = old.thaw()
            kept = [f for f in draft.lifecycle().finalizers if f != self.finalizer]
            draft.set(["metadata", "finalizers"], orjson.dumps(kept) if kept else None)
            return draft

        try:
            await self.registry.update(resource, namespace, name, change, self.write(resource, namespace, name))
        except ApiError as e:
            if e.code not in (404, 409):
                raise
        return True

    async def used(self, namespace: str, name: str, value: dict[str, Any]) -> bool:
        """Report whether the object is in use."""
        raise NotImplementedError

    async def everything(self, group: str, plural: str, namespace: str = "") -> AsyncIterator[dict[str, Any]]:
        """Yield all objects of a resource as JSON values."""
        async for stored in self.registry.walk(self.resource(group, plural), namespace):
            yield orjson.loads(stored.json)


class ClaimProtection(ProtectionController):
    """Keep a claim while a pod on a node mounts it."""

    name = "pvc-protection"
    user = service_account("pvc-protection-controller")
    target = ("", "persistentvolumeclaims")
    users = (("", "pods"),)
    finalizer = "kubernetes.io/pvc-protection"

    async def used(self, namespace: str, name: str, value: dict[str, Any]) -> bool:
        async for pod in self.everything("", "pods", namespace):
            if _mounts(pod, name, value):
                return True
        return False


def _mounts(pod: dict[str, Any], name: str, claim: dict[str, Any]) -> bool:
    """Report whether a pod on a node uses a claim; a pod that was shut down releases the claim made for it."""
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
    """Keep a volume while it is bound."""

    name = "pv-protection"
    user = service_account("pv-protection-controller")
    target = ("", "persistentvolumes")
    finalizer = "kubernetes.io/pv-protection"

    async def used(self, namespace: str, name: str, value: dict[str, Any]) -> bool:
        phase: str = value.get("status", {}).get("phase", "")
        return phase == "Bound"


class AttributesClassProtection(ProtectionController):
    """Keep a class of volume attributes while a claim or volume refers to it."""

    name = "vac-protection"
    user = service_account("volumeattributesclass-protection-controller")
    target = ("storage.k8s.io", "volumeattributesclasses")
    users = (("", "persistentvolumeclaims"), ("", "persistentvolumes"))
    finalizer = "kubernetes.io/vac-protection"

    async def used(self, namespace: str, name: str, value: dict[str, Any]) -> bool:
        for plural in ("persistentvolumes", "persistentvolumeclaims"):
            async for user in self.everything("", plural):
                status = user.get("status", {})
                target = status.get("modifyVolumeStatus", {}).get("targetVolumeAttributesClassName")
                named = (user["spec"].get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"))
                if name in (*named, target):
                    return True
        return False


PROTECTIONS: tuple[type[ProtectionController], ...] = (ClaimProtection, VolumeProtection, AttributesClassProtection)
