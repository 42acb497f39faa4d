"""The base of plug-ins that set a default class."""

from __future__ import annotations

from typing import ClassVar

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation


class DefaultClass(Plugin):
    """Set the class of new objects that name none."""

    storage: ClassVar[tuple[str, str]]
    """Group and resource of the objects."""
    classes: ClassVar[tuple[str, str]]
    """Group and resource of their classes."""
    marks: ClassVar[tuple[str, ...]]
    """The annotations that mark a class as the default one."""
    field: ClassVar[str]
    """The member of the spec that names the class."""
    old: ClassVar[str]
    """The annotation that named it before there was a member."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == self.storage and operation == "CREATE" and not subresource

    def mutate(self, a: Attributes) -> None:
        given: dict[str, str] = orjson.loads(a.object.get(["metadata", "annotations"]) or b"{}")
        if a.object.get(["spec", self.field]) is None and self.old not in given:
            name = self._default()
            if name is not None:
                a.object.set(["spec", self.field], orjson.dumps(name))

    def _default(self) -> str | None:
        """Return the class that is marked: the newest, and of those the first by name."""
        group, plural = self.classes
        classes = self._objects.catalog.find(group, "v1", plural)
        if classes is None:
            return None
        marked = []
        for stored in self._objects.all(classes):
            meta = orjson.loads(stored.json)["metadata"]
            if any(meta.get("annotations", {}).get(mark) == "true" for mark in self.marks):
                marked.append(meta)
        marked.sort(key=lambda m: str(m["name"]))
        marked.sort(key=lambda m: str(m["creationTimestamp"]), reverse=True)
        return marked[0]["name"] if marked else None
