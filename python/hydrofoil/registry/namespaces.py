"""Whether a namespace takes new objects (the NamespaceLifecycle admission plug-in)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hydrofoil import errors

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.registry.store import Registry


class Namespaces:
    """Looks at the namespace of each create; what it saw of a version is remembered."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._resource = registry.catalog.find("", "v1", "namespaces")
        self._seen: dict[str, tuple[int, bool]] = {}

    def forget(self, namespace: str) -> None:
        """Let go of what is remembered of a namespace that has gone."""
        self._seen.pop(namespace, None)

    def check(self, resource: Resource, namespace: str, name: str) -> None:
        """Raises 404 for a missing namespace and 403 for one that is being terminated."""
        if self._resource is None:
            return
        stored = self._registry.collection(self._resource).get(self._resource.native, "", namespace)
        if stored is None:
            raise errors.not_found("", "namespaces", namespace)
        seen = self._seen.get(namespace)
        if seen is None or seen[0] != stored.revision:
            seen = self._seen[namespace] = (stored.revision, bool(stored.thaw().lifecycle()[1]))
        if seen[1]:
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {namespace} is being terminated",
                "field": "metadata.namespace",
            }
            raise errors.forbidden(resource.group, resource.plural, name, why, [cause])
