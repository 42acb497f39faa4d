"""Definitions of custom resources: what a write could not do to its end is done by this loop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.base import Controller, Metadata
from hydrofoil.registry.strategies.definitions import DefinitionStrategy


class DefinitionController(Controller):
    """Has every definition served, and cleaned up after, as it says now.

    A write does so itself before it is answered; this is for what ended between its commit and that.
    """

    def __init__(self, registry: Any, hub: Any) -> None:
        super().__init__(registry, hub)
        strategy = registry.strategies["apiextensions.k8s.io", "customresourcedefinitions"]
        assert isinstance(strategy, DefinitionStrategy)
        self._strategy = strategy

    def resources(self) -> Iterable[Resource]:
        found = self.registry.catalog.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        return [found] if found is not None else []

    def event(self, resource: Resource, kind: str, metadata: Metadata) -> None:
        self.put(str(metadata["name"]))

    async def work(self, key: tuple[str, ...]) -> bool:
        """Look at one definition."""
        for resource in self.resources():
            await self._strategy.look(resource, key[0])
        return True
