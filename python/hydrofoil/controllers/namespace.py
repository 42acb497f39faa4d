"""Namespace deletion: the content is deleted first, then the namespace (URI-23)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Pace
from hydrofoil.controllers.base import Controller, service_account
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.delete_options import DeleteOptions

OK = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


class NamespaceController(Controller):
    """Finalize terminating namespaces."""

    called = "namespace"
    user = service_account("namespace-controller")

    def resources(self) -> Iterable[Resource]:
        return [self.resource("", "namespaces")]

    def event(self, resource: Resource, kind: str, metadata: dict[str, object]) -> None:
        if kind != "DELETED" and metadata.get("deletionTimestamp"):
            self.put(str(metadata["name"]))

    async def work(self, key: tuple[str, ...]) -> bool:
        """Delete the remaining content of a namespace, and the namespace if it is empty."""
        (name,) = key
        resource = self.resource("", "namespaces")
        stored = self.registry.collection(resource).get(resource.native, "", name)
        if stored is None or not stored.thaw().lifecycle().deletion_timestamp:
            return True
        remaining = await self._empty(name)
        if remaining:
            await self._tell(name, remaining)
            return False
        await self._finalize(name)
        return True

    async def _empty(self, namespace: str) -> dict[str, tuple[int, list[str]]]:
        """Delete the content; return the rest: resource -> count and finalizers."""
        remaining: dict[str, tuple[int, list[str]]] = {}
        seen: set[tuple[str, str]] = set()
        pace = Pace()
        for resource in self.registry.catalog.resources():
            await pace.rest()
            if not resource.namespaced or "list" not in resource.verbs or resource.storage in seen:
                continue
            seen.add(resource.storage)
            options = DeleteOptions(policy="Background")
            async for old in self.registry.walk(resource, namespace, pace):
                try:
                    write = self.write(resource, namespace, old.name)
                    await self.registry.delete(resource, namespace, old.name, options, write)
                except ApiError as e:
                    if e.code != 404:
                        raise
            left = [old.thaw().lifecycle().finalizers async for old in self.registry.walk(resource, namespace, pace)]
            if left:
                finalizers = [f for found in left for f in found]
                remaining[errors.qualified(resource.group, resource.plural)] = (len(left), finalizers)
        return remaining

    async def _tell(self, name: str, remaining: dict[str, tuple[int, list[str]]]) -> None:
        found = dict(OK)
        bad = {"NamespaceContentRemaining"}
        shown = ", ".join(f"{kind} has {count} resource instances" for kind, (count, _) in sorted(remaining.items()))
        found["NamespaceContentRemaining"] = ("SomeResourcesRemain", f"Some resources are remaining: {shown}")
        counts: dict[str, int] = {}
        for _, finalizers in remaining.values():
            for finalizer in finalizers:
                counts[finalizer] = counts.get(finalizer, 0) + 1
        if counts:
            shown = ", ".join(f"{f} in {n} resource instances" for f, n in sorted(counts.items()))
            text = f"Some content in the namespace has finalizers remaining: {shown}"
            found["NamespaceFinalizersRemaining"] = ("SomeFinalizersRemain", text)
            bad.add("NamespaceFinalizersRemaining")

        def change(old: Stored) -> Draft:
            draft = old.thaw()
            before = {c["type"]: c for c in orjson.loads(draft.get(["status", "conditions"]) or b"[]")}
            conditions = []
            for kind, (reason, message) in found.items():
                status = "True" if kind in bad else "False"
                condition = {"type": kind, "status": status, "reason": reason, "message": message}
                was = before.get(kind, {})
                moment = was["lastTransitionTime"] if was.get("status") == status else self.registry.clock.text()
                conditions.append({**condition, "lastTransitionTime": moment})
            draft.set(["status", "conditions"], orjson.dumps(conditions))
            return draft

        await self._write(name, change, "status")

    async def _finalize(self, name: str) -> None:
        def change(old: Stored) -> Draft:
            draft = old.thaw()
            finalizers = orjson.loads(draft.get(["spec", "finalizers"]) or b"[]")
            draft.set(["spec", "finalizers"], orjson.dumps([f for f in finalizers if f != "kubernetes"]))
            return draft

        await self._write(name, change, "finalize")

    async def _write(self, name: str, change: Callable[[Stored], Draft], subresource: str) -> None:
        try:
            resource = self.resource("", "namespaces")
            write = self.write(resource, "", name, subresource=subresource)
            await self.registry.update(resource, "", name, change, write)
        except ApiError as e:
            if e.code not in (404, 409):
                raise
