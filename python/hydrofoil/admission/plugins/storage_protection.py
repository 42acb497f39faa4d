"""The StorageObjectInUseProtection admission plug-in: a finalizer that a controller removes once storage is unused."""

from __future__ import annotations

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation

FINALIZERS = {
    ("", "persistentvolumes"): "kubernetes.io/pv-protection",
    ("", "persistentvolumeclaims"): "kubernetes.io/pvc-protection",
    ("storage.k8s.io", "volumeattributesclasses"): "kubernetes.io/vac-protection",
}


class StorageObjectInUseProtection(Plugin):
    """Add the finalizer to new objects."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage in FINALIZERS and operation == "CREATE" and not subresource

    def mutate(self, a: Attributes) -> None:
        finalizers = a.object.lifecycle().finalizers
        own = FINALIZERS[a.resource.storage]
        if own not in finalizers:
            a.object.set(["metadata", "finalizers"], orjson.dumps([*finalizers, own]))
