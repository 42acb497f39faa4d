"""The PodTopologyLabels admission plug-in: pods have zone and region of their node."""

from __future__ import annotations

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.plugin_dependencies import PluginDependencies
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation

COPIED = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
LABELS = ["metadata", "labels"]


class PodTopologyLabels(Plugin):
    """Copy labels of the node to new pods on it and to bindings."""

    def __init__(self, deps: PluginDependencies) -> None:
        self._registry = deps.registry

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "pods") and operation == "CREATE" and subresource in ("", "binding")

    def mutate(self, a: Attributes) -> None:
        if a.subresource:
            target = orjson.loads(a.object.get(["target"]) or b"{}")
            name = target.get("name", "") if target.get("kind", "") in ("", "Node") else ""
        else:
            name = orjson.loads(a.object.get(["spec", "nodeName"]) or b'""')
        stored = self._registry.find("", "nodes", "", name) if name else None
        if stored is None or b"topology.kubernetes.io/" not in stored.json:
            return
        of_node = orjson.loads(stored.member("metadata") or b"{}").get("labels") or {}
        copied = {key: of_node[key] for key in COPIED if key in of_node}
        if copied:
            own = orjson.loads(a.object.get(LABELS) or b"{}")
            a.object.set(LABELS, orjson.dumps({**own, **copied}, option=orjson.OPT_SORT_KEYS))
