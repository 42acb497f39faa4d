"""The PodNodeSelector admission plug-in: the nodes of a namespace (plugin/pkg/admission/podnodeselector)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.plugin_dependencies import PluginDependencies
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation

ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
SELECTOR = ["spec", "nodeSelector"]
DEFAULT = "clusterDefaultNodeSelector"


class PodNodeSelector(Plugin):
    """Add the selector of the namespace to its pods."""

    def __init__(self, deps: PluginDependencies) -> None:
        self._registry = deps.registry
        given: Any = deps.configuration.get("PodNodeSelector") or {}
        self._configured: dict[str, str] = given.get("podNodeSelectorPluginConfig") or {}

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "pods") and operation == "CREATE" and not subresource

    def mutate(self, a: Attributes) -> None:
        """Raise ApiError 403 for a pod that wants other nodes."""
        own = orjson.loads(a.object.get(SELECTOR) or b"{}")
        merged = {**self._checked(a, own), **own}
        if merged != own:
            a.object.set(SELECTOR, orjson.dumps(merged, option=orjson.OPT_SORT_KEYS))

    def validate(self, a: Attributes) -> None:
        """Raise ApiError 403, also for labels beyond those that the configuration allows the namespace."""
        own = orjson.loads(a.object.get(SELECTOR) or b"{}")
        self._checked(a, own)
        allowed = _labels(self._configured.get(a.namespace, ""))
        if allowed and any(allowed.get(key) != value for key, value in own.items()):
            raise a.forbidden("pod node label selector labels conflict with its namespace whitelist")

    def _checked(self, a: Attributes, own: dict[str, str]) -> dict[str, str]:
        """Return the selector of the namespace. Raise ApiError 403, 404 and 500."""
        stored = self._registry.find("", "namespaces", "", a.namespace)
        if stored is None:
            raise errors.not_found("", "namespaces", a.namespace)
        annotations = orjson.loads(stored.member("metadata") or b"{}").get("annotations") or {}
        text = annotations.get(ANNOTATION, self._configured.get(DEFAULT, ""))
        wanted = _labels(text)
        if any(own.get(key, value) != value for key, value in wanted.items()):
            raise a.forbidden("pod node label selector conflicts with its namespace node label selector")
        return wanted


def _labels(text: str) -> dict[str, str]:
    """Read labels (apimachinery `labels.ConvertSelectorToLabelsMap`). Raise ApiError 500."""
    found: dict[str, str] = {}
    for part in text.split(",") if text else ():
        key, equals, value = part.partition("=")
        if not equals or "=" in value:
            raise errors.ApiError(500, "", f"invalid selector: {text}")
        found[key.strip()] = value.strip()
    return found
