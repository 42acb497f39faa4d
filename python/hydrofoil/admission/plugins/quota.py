"""The ResourceQuota admission plug-in: quotas of a namespace."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.charges import Charges
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.go_text import quote
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Operation

KIND = "ResourceQuotaConfiguration"
VERSIONS = (
    "apiserver.config.k8s.io/v1",
    "resourcequota.admission.k8s.io/v1beta1",
    "resourcequota.admission.k8s.io/v1alpha1",
)
MEMBERS = frozenset(("apiGroup", "resource", "matchContains", "matchScopes"))


def limited_resources(given: Mapping[str, Any]) -> bytes:
    """Return the resources of a configuration that need a quota, as JSON; empty for none. Raise ValueError."""
    if not given:
        return b""
    kind, version = str(given.get("kind", "")), str(given.get("apiVersion", ""))
    if version not in VERSIONS or kind not in (KIND, "Configuration"):
        raise ValueError(f"no kind {quote(kind)} is registered for version {quote(version)}")
    if unknown := given.keys() - {"kind", "apiVersion", "limitedResources"}:
        raise ValueError(f"strict decoding error: unknown field {quote(min(unknown))}")
    limited = given.get("limitedResources") or []
    if not (isinstance(limited, list) and all(isinstance(each, dict) for each in limited)):
        raise ValueError("limitedResources must be a list of objects")
    for at, each in enumerate(limited):
        if unknown := each.keys() - MEMBERS:
            raise ValueError(f"strict decoding error: unknown field {quote(f'limitedResources[{at}].{min(unknown)}')}")
        if not each.get("resource"):
            raise ValueError(f"limitedResources[{at}].resource: Required value")
    return orjson.dumps(limited) if limited else b""


class ResourceQuota(Plugin):
    """Charge writes to the quotas that cover them, and refuse those of limited resources that none covers.

    Usage released by deletions, and the first status of a quota, are left to the controller.
    """

    repeats = False

    def __init__(self, registry: Registry, given: Mapping[str, Any] | None = None) -> None:
        """`given` is the plug-in's configuration. Raise ValueError with one line."""
        self._limited = limited_resources(given or {})
        self._resource = registry.catalog.find("", "v1", "resourcequotas")
        self._charges = None if self._resource is None else Charges(registry, self._resource, self._limited)
        self._quotas = None if self._resource is None else registry.collection(self._resource)

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return self._resource is not None and resource.namespaced and operation in ("CREATE", "UPDATE")

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Add a write to the usage of its quotas. Raise ApiError 403 when one of them would be exceeded."""
        if self._charges is None or self.idle():
            return None
        return self._charges.charge(a) if a.namespace else None

    def idle(self) -> bool:
        return self._quotas is None or not (self._limited or self._quotas.size()[0])
