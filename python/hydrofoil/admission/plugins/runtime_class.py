"""The RuntimeClass admission plug-in: overhead and scheduling of a class, for its pods."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.tolerations import merge_tolerations
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation

OVERHEAD = ["spec", "overhead"]
MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


class RuntimeClass(Plugin):
    """Set the overhead and the scheduling of a pod by its class."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "pods") and operation == "CREATE" and not subresource

    def _class(self, a: Attributes) -> dict[str, Any]:
        """Return the class of a pod; empty if it names none. Raise ApiError 403 for an unknown one."""
        name = a.object.get(["spec", "runtimeClassName"])
        if name is None:
            return {}
        wanted: str = orjson.loads(name)
        found = self._objects.find("node.k8s.io", "runtimeclasses", "", wanted)
        if found is None:
            raise a.forbidden(f'pod rejected: RuntimeClass "{wanted}" not found')
        raw: dict[str, Any] = orjson.loads(found.json)
        return raw

    def mutate(self, a: Attributes) -> None:
        draft, raw = a.object, self._class(a)
        if "overhead" in raw:
            fixed = raw["overhead"].get("podFixed", {})
            overhead = draft.get(OVERHEAD)
            if overhead not in (None, b"{}") and orjson.loads(overhead) != fixed:
                raise a.forbidden(MISMATCH)
            draft.set(OVERHEAD, orjson.dumps(fixed))
        scheduling = raw.get("scheduling", {})
        if selector := scheduling.get("nodeSelector"):
            own = orjson.loads(draft.get(["spec", "nodeSelector"]) or b"{}")
            for key, value in selector.items():
                if own.get(key, value) != value:
                    text = f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                    raise a.forbidden(text + f"pod.spec.nodeSelector[{key}] = {own[key]}")
            draft.set(["spec", "nodeSelector"], orjson.dumps({**own, **selector}, option=orjson.OPT_SORT_KEYS))
        own = orjson.loads(draft.get(["spec", "tolerations"]) or b"[]")
        if "scheduling" in raw and (wanted := merge_tolerations([*own, *(scheduling.get("tolerations") or [])])) != own:
            draft.set(["spec", "tolerations"], orjson.dumps(wanted))

    def validate(self, a: Attributes) -> None:
        """Check the overhead (`validateOverhead`)."""
        overhead, raw = a.object.get(OVERHEAD), self._class(a)
        if "overhead" in raw:
            if orjson.loads(overhead or b"{}") != raw["overhead"].get("podFixed", {}):
                raise a.forbidden(MISMATCH)
        elif overhead is not None:
            raise a.forbidden("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
