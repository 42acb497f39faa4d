"""The PodTolerationRestriction admission plug-in (plugin/pkg/admission/podtolerationrestriction)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.plugin_dependencies import PluginDependencies
from hydrofoil.admission.tolerations import Toleration, covers, merge_tolerations
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation

PREFIX = "scheduler.alpha.kubernetes.io/"
MEMORY_PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}
TOLERATIONS = ["spec", "tolerations"]
COMPUTED = ("cpu", "memory")


class PodTolerationRestriction(Plugin):
    """Add the default tolerations of the namespace to its pods, and refuse those that it does not allow."""

    def __init__(self, deps: PluginDependencies) -> None:
        self._registry = deps.registry
        given: Any = deps.configuration.get("PodTolerationRestriction") or {}
        self._default: list[Toleration] = given.get("default") or []
        self._allowed: list[Toleration] = given.get("whitelist") or []

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "pods") and operation in ("CREATE", "UPDATE") and not subresource

    def mutate(self, a: Attributes) -> None:
        """Raise ApiError 404 and 500."""
        own: list[Toleration] = orjson.loads(a.object.get(TOLERATIONS) or b"[]")
        extra = (self._annotated(a, "defaultTolerations") or self._default) if a.operation == "CREATE" else []
        if _has_guarantee(a):
            extra = [*extra, MEMORY_PRESSURE]
        if extra:
            a.object.set(TOLERATIONS, orjson.dumps(merge_tolerations([*own, *extra])))
        self.validate(a)

    def validate(self, a: Attributes) -> None:
        """Raise ApiError 404 and 500, as upstream."""
        own: list[Toleration] = orjson.loads(a.object.get(TOLERATIONS) or b"[]")
        allowed = (self._annotated(a, "tolerationsWhitelist") or self._allowed) if own else []
        if allowed and not all(any(covers(each, one) for each in allowed) for one in own):
            text = "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace"
            raise errors.ApiError(500, "", f"{text} whitelist")

    def _annotated(self, a: Attributes, name: str) -> list[Toleration]:
        stored = self._registry.find("", "namespaces", "", a.namespace)
        if stored is None:
            raise errors.not_found("", "namespaces", a.namespace)
        annotations = orjson.loads(stored.member("metadata") or b"{}").get("annotations") or {}
        try:
            found = orjson.loads(annotations.get(PREFIX + name) or b"[]")
        except orjson.JSONDecodeError as e:
            raise errors.ApiError(500, "", str(e)) from None
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _has_guarantee(a: Attributes) -> bool:
    """Report whether a pod requests processors or memory: it is no best-effort pod."""
    for kind in ("containers", "initContainers"):
        for each in orjson.loads(a.object.get(["spec", kind]) or b"[]"):
            resources = each.get("resources") or {}
            given = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
            if any(str(given.get(name, "0")) not in ("0", "") for name in COMPUTED):
                return True
    return False
