"""The ResourceQuota admission plug-in: quotas of a namespace."""

from __future__ import annotations

from collections.abc import Awaitable

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored, quota_charge
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Operation, Write

MANAGER = "kube-apiserver"


class ResourceQuota(Plugin):
    """Charge writes to the quotas that cover them; without quotas, do nothing.

    Usage released by deletions, and the first status of a quota, are left to the controller.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._resource = registry.catalog.find("", "v1", "resourcequotas")
        self._quotas = None if self._resource is None else registry.collection(self._resource)

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return self._resource is not None and resource.namespaced and operation in ("CREATE", "UPDATE")

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Add a write to the usage of its quotas. Raise ApiError 403 when one of them would be exceeded."""
        if self._resource is None or self._quotas is None or not self._quotas.stats().objects:
            return None
        return self._charge(self._resource, a) if a.namespace else None

    async def _charge(self, resource: Resource, a: Attributes) -> None:
        group, plural = a.key
        while quotas := self._registry.all(resource, a.namespace):
            changed, refusal = quota_charge(a.object, a.old, (group, plural, a.subresource), quotas)
            if refusal is not None:
                raise errors.forbidden(group, plural, a.object.metadata().name, refusal)
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
