"""The LimitPodHardAntiAffinityTopology admission plug-in (plugin/pkg/admission/antiaffinity)."""

from __future__ import annotations

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation

HOSTNAME = "kubernetes.io/hostname"
TERMS = ["spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"]


class LimitPodHardAntiAffinityTopology(Plugin):
    """Allow required anti-affinity of pods by host only."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "pods") and operation in ("CREATE", "UPDATE") and not subresource

    def validate(self, a: Attributes) -> None:
        """Raise ApiError 403."""
        for term in orjson.loads(a.object.get(TERMS) or b"[]"):
            key = term.get("topologyKey", "")
            if key != HOSTNAME:
                text = (
                    f"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} but only key {HOSTNAME}"
                )
                raise a.forbidden(f"{text} is allowed")
