"""The NamespaceAutoProvision and NamespaceExists admission plug-ins."""

from __future__ import annotations

from collections.abc import Awaitable

import orjson

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.plugin_dependencies import PluginDependencies
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation, Write


class NamespaceAutoProvision(Plugin):
    """Create the missing namespace of a new object."""

    def __init__(self, deps: PluginDependencies) -> None:
        self._registry = deps.registry

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.namespaced and operation == "CREATE"

    def mutate(self, a: Attributes) -> Awaitable[None] | None:
        """Create it, unless the request is a dry run. Raise ApiError."""
        namespaces = self._registry.catalog.find("", "v1", "namespaces")
        if a.dry_run or not a.namespace or namespaces is None:
            return None
        if self._registry.collection(namespaces).get(namespaces.native, "", a.namespace) is not None:
            return None
        return self._create(namespaces, a.namespace)

    async def _create(self, namespaces: Resource, name: str) -> None:
        draft = namespaces.native.empty()
        draft.set(["metadata", "name"], orjson.dumps(name))
        try:
            await self._registry.create(namespaces, "", draft, Write(manager="kube-apiserver"))
        except errors.ApiError as e:
            if e.reason != "AlreadyExists":
                raise


class NamespaceExists(Plugin):
    """Refuse requests in missing namespaces."""

    def __init__(self, deps: PluginDependencies) -> None:
        self._registry = deps.registry

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.namespaced and operation != "CONNECT"

    def validate(self, a: Attributes) -> None:
        """Raise ApiError 404."""
        if a.namespace and self._registry.find("", "namespaces", "", a.namespace) is None:
            raise errors.not_found("", "namespaces", a.namespace)
