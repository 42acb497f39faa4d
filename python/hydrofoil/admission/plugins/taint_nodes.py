"""The TaintNodesByCondition admission plug-in: a new node is not ready until its conditions are."""

from __future__ import annotations

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation

TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition(Plugin):
    """Taint new nodes."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "nodes") and operation == "CREATE" and not subresource

    def mutate(self, a: Attributes) -> None:
        taints = orjson.loads(a.object.get(["spec", "taints"]) or b"[]")
        if not any(t.get("key") == TAINT["key"] and t.get("effect") == TAINT["effect"] for t in taints):
            a.object.set(["spec", "taints"], orjson.dumps([*taints, TAINT]))
