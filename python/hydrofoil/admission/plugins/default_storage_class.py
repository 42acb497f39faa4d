"""A claim that names no class gets the default one (the DefaultStorageClass admission plug-in)."""

from __future__ import annotations

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.default_class import annotations_of, default_class
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation

MARKS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


class DefaultStorageClass(Plugin):
    """Fills the class of new claims."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "persistentvolumeclaims") and operation == "CREATE" and not subresource

    def mutate(self, a: Attributes) -> None:
        if a.object.get(["spec", "storageClassName"]) is None and OLD_CLASS not in annotations_of(a.object):
            name = default_class(self._objects, "storage.k8s.io", "storageclasses", MARKS)
            if name is not None:
                a.object.set(["spec", "storageClassName"], orjson.dumps(name))
