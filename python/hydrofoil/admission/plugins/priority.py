"""The Priority admission plug-in: the priority of a pod by its class, or by the default class."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation

PODS = ("", "pods")
CLASSES = ("scheduling.k8s.io", "priorityclasses")
MEMBERS = ("priority", "preemptionPolicy")
TAIL = "must not be provided in pod spec; priority admission controller computed {} from the given PriorityClass name"


class Priority(Plugin):
    """Set the priority of new pods; updates keep it."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._classes = objects.catalog.find("scheduling.k8s.io", "v1", "priorityclasses")

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage in (PODS, CLASSES) and operation != "DELETE" and not subresource

    def validate(self, a: Attributes) -> None:
        """Refuse a second default class (`validatePriorityClass`). Raise ApiError 403."""
        if a.key != CLASSES or self._classes is None or a.object.get(["globalDefault"]) != b"true":
            return
        default = self._default_class(self._classes)
        if default is None:
            return
        name = default["metadata"]["name"]
        if a.old is None or a.old.name != name:
            raise a.forbidden(f"PriorityClass {name} is already marked as default. Only one default can exist")

    def mutate(self, a: Attributes) -> None:
        if a.key == CLASSES:
            return
        if a.old is None:
            self._create(a)
            return
        before = None
        for member in MEMBERS:
            if a.object.get(["spec", member]) is None:
                before = before or a.old.thaw()
                a.object.set(["spec", member], before.get(["spec", member]))

    def _create(self, a: Attributes) -> None:
        classes, draft = self._classes, a.object
        if classes is None:
            return
        name = orjson.loads(draft.get(["spec", "priorityClassName"]) or b'""')
        value, policy = 0, "PreemptLowerPriority"
        if name:
            found = self._objects.collection(classes).get(classes.native, "", name)
            if found is None:
                raise a.forbidden(f"no PriorityClass with name {name} was found")
            raw = orjson.loads(found.json)
            value, policy = raw["value"], raw.get("preemptionPolicy", policy)
        elif raw := self._default_class(classes):
            value, policy = raw["value"], raw.get("preemptionPolicy", policy)
            draft.set(["spec", "priorityClassName"], orjson.dumps(raw["metadata"]["name"]))
        given = draft.get(["spec", "priority"])
        if given is not None and int(given) != value:
            raise a.forbidden(f"the integer value of priority ({int(given)}) " + TAIL.format(value))
        draft.set(["spec", "priority"], b"%d" % value)
        given = draft.get(["spec", "preemptionPolicy"])
        if given is not None and orjson.loads(given) != policy:
            raise a.forbidden(f"the string value of PreemptionPolicy ({orjson.loads(given)}) " + TAIL.format(policy))
        draft.set(["spec", "preemptionPolicy"], orjson.dumps(policy))

    def _default_class(self, classes: Resource) -> dict[str, Any] | None:
        """Return the class of pods that name none: of several default classes, the lowest."""
        marked: list[dict[str, Any]] = [
            orjson.loads(c.json) for c in self._objects.all(classes) if b'"globalDefault":true' in c.json
        ]
        return min(marked, key=lambda raw: raw["value"], default=None)
