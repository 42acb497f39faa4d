"""The DefaultTolerationSeconds admission plug-in: the time that pods stay on a failing node."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation

TOLERATIONS: tuple[dict[str, Any], ...] = tuple(
    {
        "key": f"node.kubernetes.io/{condition}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for condition in ("not-ready", "unreachable")
)


def _tolerates(given: dict[str, Any], key: str) -> bool:
    return given.get("key", "") in (key, "") and given.get("effect", "") in ("NoExecute", "")


class DefaultTolerationSeconds(Plugin):
    """Add the tolerations that a pod lacks."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "pods") and operation != "DELETE" and not subresource

    def mutate(self, a: Attributes) -> None:
        given = orjson.loads(a.object.get(["spec", "tolerations"]) or b"[]")
        added = [t for t in TOLERATIONS if not any(_tolerates(one, t["key"]) for one in given)]
        if added:
            a.object.set(["spec", "tolerations"], orjson.dumps(given + added))
