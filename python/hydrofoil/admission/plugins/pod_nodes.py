"""The admission plug-ins of pods that are resized on their node: its room, and the features that it declares."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Stored, node_shortage
from hydrofoil.go_text import quote
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation

OS = "kubernetes.io/os"
POD_LEVEL = "InPlacePodLevelResourcesVerticalScaling"
INIT_CONTAINERS = "InPlacePodVerticalScalingInitContainers"


class _OfResize(Plugin):
    """Judge a pod that has a node and another spec than before."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        # Other updates of a pod keep its resources.
        return resource.storage == ("", "pods") and subresource == "resize" and operation == "UPDATE"

    def _node_name(self, a: Attributes) -> str:
        """Return the node of a pod whose spec changes; nothing for others."""
        assert a.old is not None, "an update has an old version"
        name: str = orjson.loads(a.object.get(["spec", "nodeName"]) or b'""')
        changes = name and a.object.lifecycle().generation != _meta(a.old).get("generation", 0)
        return name if changes else ""

    def _node(self, a: Attributes, name: str) -> Stored:
        """Return a node. Raise ApiError 403 without it."""
        if (node := self._objects.find("", "nodes", "", name)) is None:
            raise a.forbidden(f"node {quote(name)} not found")
        return node


def _meta(stored: Stored) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(stored.member("metadata") or b"{}")
    return found


class PodResizeValidator(_OfResize):
    """Refuse requests that are above those the node can allocate (`plugin/pkg/admission/podresize`)."""

    def validate(self, a: Attributes) -> None:
        """Check the system and the room of the node. Raise ApiError 403."""
        if not (name := self._node_name(a)):
            return
        node = self._node(a, name)
        system = (_meta(node).get("labels") or {}).get(OS, "linux")
        if system != "linux":
            why = f"pod resize is only supported on linux nodes, node {quote(name)} is {quote(system)}"
            raise a.forbidden(why, [{"reason": "UnsupportedPlatform"}])
        if short := node_shortage(a.object, node):
            why = f"node didn't have enough allocatable resources: {short}"
            raise a.forbidden(why, [{"reason": "NodeCapacity"}])


class NodeDeclaredFeatureValidator(_OfResize):
    """Refuse an update that needs a feature which the node does not declare (`.../admission/nodedeclaredfeatures`)."""

    def validate(self, a: Attributes) -> None:
        """Check the features that the change needs (`InferForPodUpdate`). Raise ApiError 403."""
        if not (name := self._node_name(a)):
            return
        assert a.old is not None
        before = orjson.loads(a.old.member("spec") or b"{}")
        after = orjson.loads(a.object.get(["spec"]) or b"{}")
        if not (needed := _required_features(before, after)):
            return
        node = self._node(a, name)
        declared = orjson.loads(node.member("status") or b"{}").get("declaredFeatures") or ()
        if absent := [feature for feature in needed if feature not in declared]:
            why = f"pod update requires features {', '.join(absent)} which are not available on node {quote(name)}"
            raise a.forbidden(why)


def _required_features(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the features that a change of a spec needs, in the order of their names."""
    needed = []
    if before.get("resources") != after.get("resources"):
        needed.append(POD_LEVEL)
    pairs = zip(before.get("initContainers") or (), after.get("initContainers") or (), strict=False)
    if any(old.get("restartPolicy") != "Always" and old.get("resources") != new.get("resources") for old, new in pairs):
        needed.append(INIT_CONTAINERS)
    return needed
