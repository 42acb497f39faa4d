"""The ExtendedResourceToleration admission plug-in: pods tolerate the taints of nodes with their devices."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation

KINDS = ("containers", "initContainers")


def _is_extended(name: str) -> bool:
    """Report whether a resource is of another domain than Kubernetes'."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


class ExtendedResourceToleration(Plugin):
    """Add a toleration for each extended resource of a pod."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "pods") and operation in ("CREATE", "UPDATE") and not subresource

    def mutate(self, a: Attributes) -> None:
        names: set[str] = set()
        for kind in KINDS:
            for each in orjson.loads(a.object.get(["spec", kind]) or b"[]"):
                names |= set(filter(_is_extended, (each.get("resources") or {}).get("requests") or {}))
        if not names:
            return
        given: list[dict[str, Any]] = orjson.loads(a.object.get(["spec", "tolerations"]) or b"[]")
        wanted = [{"key": name, "operator": "Exists", "effect": "NoSchedule"} for name in sorted(names)]
        added = [each for each in wanted if each not in given]
        if added:
            a.object.set(["spec", "tolerations"], orjson.dumps(given + added))
