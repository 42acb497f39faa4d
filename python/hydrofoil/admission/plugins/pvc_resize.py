"""The PersistentVolumeClaimResize admission plug-in: claims grow only where their class allows it."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.plugins.default_storage_class import DefaultStorageClass
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import storage_grows
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation


class PersistentVolumeClaimResize(Plugin):
    """Check claims that request more than before."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "persistentvolumeclaims") and operation == "UPDATE" and not subresource

    def validate(self, a: Attributes) -> None:
        """Raise ApiError 403 for a class that does not allow expansion."""
        assert a.old is not None
        if not storage_grows(a.object, a.old):
            return
        before: dict[str, Any] = orjson.loads(a.old.json)
        if before.get("status", {}).get("phase") != "Bound":
            raise a.forbidden("Only bound persistent volume claims can be expanded")
        names = {_class_of(before), _class_of(orjson.loads(a.object.json()))}
        name = names.pop()
        found = None
        if not names and name:
            found = self._objects.find("storage.k8s.io", "storageclasses", "", name)
        if found is None or not orjson.loads(found.json).get("allowVolumeExpansion"):
            raise a.forbidden(
                "only dynamically provisioned pvc can be resized and "
                "the storageclass that provisions the pvc must support resize"
            )


def _class_of(claim: dict[str, Any]) -> str:
    notes = claim["metadata"].get("annotations", {})
    return str(notes.get(DefaultStorageClass.old) or claim.get("spec", {}).get("storageClassName") or "")
