"""The LimitRanger admission plug-in: limit ranges of a namespace."""

from __future__ import annotations

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Stored, limit_fill, limit_refusal
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation

PODS, CLAIMS = ("", "pods"), ("", "persistentvolumeclaims")


class LimitRanger(Plugin):
    """Set defaults and enforce limits by the ranges of a namespace; without any range, do nothing."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._resource = objects.catalog.find("", "v1", "limitranges")

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        if self._resource is None or operation == "DELETE":
            return False
        if resource.storage == PODS:
            # Requests of containers change only on a resize.
            return not subresource if operation == "CREATE" else subresource == "resize"
        return resource.storage == CLAIMS and not subresource

    def _ranges(self, namespace: str) -> list[Stored]:
        if self._resource is None or not self._objects.collection(self._resource).stats().objects:
            return []
        return self._objects.all(self._resource, namespace)

    def mutate(self, a: Attributes) -> None:
        """Set the requests and limits that the containers of a pod omit."""
        if a.resource.storage == PODS:
            for found in self._ranges(a.namespace):
                limit_fill(a.object, found.json)

    def validate(self, a: Attributes) -> None:
        """Raise ApiError 403 for a violated range; skip an object that is being deleted."""
        for found in self._ranges(a.namespace):
            if a.old is not None and a.old.thaw().lifecycle().deletion_timestamp:
                return
            if why := limit_refusal(a.object, found.json, claim=a.resource.storage == CLAIMS):
                raise a.forbidden(why)
