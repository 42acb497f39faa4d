"""An ingress that names no class gets the default one (the DefaultIngressClass admission plug-in)."""

from __future__ import annotations

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.default_class import annotations_of, default_class
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation

MARKS = ("ingressclass.kubernetes.io/is-default-class",)
OLD_CLASS = "kubernetes.io/ingress.class"


class DefaultIngressClass(Plugin):
    """Fills the class of new ingresses."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("networking.k8s.io", "ingresses") and operation == "CREATE" and not subresource

    def mutate(self, a: Attributes) -> None:
        if a.object.get(["spec", "ingressClassName"]) is None and OLD_CLASS not in annotations_of(a.object):
            name = default_class(self._objects, "networking.k8s.io", "ingressclasses", MARKS)
            if name is not None:
                a.object.set(["spec", "ingressClassName"], orjson.dumps(name))
