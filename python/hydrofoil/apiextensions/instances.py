"""The strategy of the instances of definitions."""

from __future__ import annotations

from collections.abc import Callable

from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Stored
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.strategy import Strategy


class InstanceStrategy(Strategy):
    """Report each removed instance: the removal of its definition may wait for that."""

    def __init__(self, objects: Objects, gone: Callable[[], None]) -> None:
        super().__init__(objects)
        self._gone = gone

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        if new is None:
            self._gone()
