"""Quotas of a namespace (the ResourceQuota admission plug-in)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hydrofoil import errors
from hydrofoil.engine import quota_charge

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.engine import Draft, Stored
    from hydrofoil.registry.store import Registry

MANAGER = "kube-apiserver"


class Quotas:
    """Charges writes to the quotas that measure them; a server without quotas is asked for nothing.

    What deletions give back, and what a quota allows at first, is a controller's work.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._resource = registry.catalog.find("", "v1", "resourcequotas")

    async def charge(
        self, resource: Resource, old: Stored | None, draft: Draft, subresource: str, *, dry_run: bool
    ) -> None:
        """Counts a write in the status of its quotas. Raises 403 when one of them has too little left."""
        if self._resource is None or not self._registry.collection(self._resource).stats().objects:
            return
        head = draft.head()
        while quotas := self._registry.all(self._resource, head[4]) if head[4] else []:
            group, plural = resource.storage_group, resource.plural
            changed, refusal = quota_charge(draft, old, (group, plural, subresource), quotas)
            if refusal is not None:
                raise errors.forbidden(group, plural, head[2], refusal)
            if dry_run or not changed:
                return
            # Of several quotas each is counted once, also when another write to one of them came between.
            if await self._count([(quotas[i], used) for i, used in changed]):
                return

    async def _count(self, changed: list[tuple[Stored, bytes]]) -> bool:
        """Writes what is used now; false when a quota has changed meanwhile and nothing is written yet."""
        if any(self._present(quota) != quota.revision for quota, _ in changed):
            return False
        for quota, used in changed:

            def change(present: Stored, used: bytes = used) -> Draft:
                draft = present.thaw()
                draft.set(["status", "used"], used)
                return draft

            if self._resource is not None:
                await self._registry.update(
                    self._resource,
                    quota.namespace,
                    quota.name,
                    change,
                    subresource="status",
                    manager=MANAGER,
                    warnings=[],
                )
        return True

    def _present(self, quota: Stored) -> int | None:
        if self._resource is None:
            return None
        found = self._registry.collection(self._resource).get(self._resource.native, quota.namespace, quota.name)
        return found.revision if found else None
