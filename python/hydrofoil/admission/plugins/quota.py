"""The ResourceQuota admission plug-in: quotas of a namespace."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored, quota_charge
from hydrofoil.errors import quoted
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Operation, Write

MANAGER = "kube-apiserver"
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
        raise ValueError(f"no kind {quoted(kind)} is registered for version {quoted(version)}")
    if unknown := given.keys() - {"kind", "apiVersion", "limitedResources"}:
        raise ValueError(f"strict decoding error: unknown field {quoted(min(unknown))}")
    limited = given.get("limitedResources") or []
    if not (isinstance(limited, list) and all(isinstance(each, dict) for each in limited)):
        raise ValueError("limitedResources must be a list of objects")
    for at, each in enumerate(limited):
        if unknown := each.keys() - MEMBERS:
            raise ValueError(f"strict decoding error: unknown field {quoted(f'limitedResources[{at}].{min(unknown)}')}")
        if not each.get("resource"):
            raise ValueError(f"limitedResources[{at}].resource: Required value")
    return orjson.dumps(limited) if limited else b""


class ResourceQuota(Plugin):
    """Charge writes to the quotas that cover them, and refuse those of limited resources that none covers.

    Usage released by deletions, and the first status of a quota, are left to the controller.
    """

    def __init__(self, registry: Registry, given: Mapping[str, Any] | None = None) -> None:
        """`given` is the plug-in's configuration. Raise ValueError with one line."""
        self._registry = registry
        self._limited = limited_resources(given or {})
        self._resource = registry.catalog.find("", "v1", "resourcequotas")
        self._quotas = None if self._resource is None else registry.collection(self._resource)

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return self._resource is not None and resource.namespaced and operation in ("CREATE", "UPDATE")

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Add a write to the usage of its quotas. Raise ApiError 403 when one of them would be exceeded."""
        if self._resource is None or self._quotas is None:
            return None
        if not (self._limited or self._quotas.stats().objects):
            return None
        return self._charge(self._resource, a) if a.namespace else None

    async def _charge(self, resource: Resource, a: Attributes) -> None:
        group, plural = a.key
        while (quotas := self._registry.all(resource, a.namespace)) or self._limited:
            written = (group, plural, a.subresource)
            changed, refusal, forbidden = quota_charge(a.object, a.old, written, quotas, self._limited)
            if refusal is not None:
                if forbidden:
                    raise errors.forbidden(group, plural, a.object.metadata().name, refusal)
                raise errors.ApiError(500, "", refusal)
            if a.dry_run or not changed:
                return
            # Each quota is charged once, even if one of several was written meanwhile.
            if await self._count(resource, [(quotas[i], used) for i, used in changed]):
                return

    async def _count(self, resource: Resource, changed: list[tuple[Stored, bytes]]) -> bool:
        """Write the new usage; return False when a quota has changed meanwhile and nothing is written yet."""
        if any(self._present(resource, quota) != quota.revision for quota, _ in changed):
            return False
        for quota, used in changed:

            def change(present: Stored, used: bytes = used) -> Draft:
                draft = present.thaw()
                draft.set(["status", "used"], used)
                return draft

            write = Write(manager=MANAGER, subresource="status")
            await self._registry.update(resource, quota.namespace, quota.name, change, write)
        return True

    def _present(self, resource: Resource, quota: Stored) -> int | None:
        found = self._registry.collection(resource).get(resource.native, quota.namespace, quota.name)
        return found.revision if found else None
