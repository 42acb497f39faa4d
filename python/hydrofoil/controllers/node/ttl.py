"""How long kubelets may keep objects, by the size of the cluster (`pkg/controller/ttl`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.errors import ApiError

ANNOTATION = "node.alpha.kubernetes.io/ttl"
STEPS = ((0, 100, 0), (90, 500, 15), (450, 1000, 30), (900, 2000, 60), (1800, 1 << 31, 300))
"""The least and the greatest number of nodes of each step, and its seconds: steps overlap, so that none flaps."""


class TimeToLive(Controller):
    """Annotate nodes. A key is the name of a node."""

    name = "ttl"
    user = service_account("ttl-controller")

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._count = 0
        self._step = 0

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether nodes are served."""
        return all_served(catalog, ("", "nodes"))

    def watches(self) -> list[ValueWatch[Any]]:
        return [self.watch("", "nodes", Node, self._on_node)]

    def _on_node(self, old: Node | None, new: Node | None) -> None:
        if new is None:
            self._count -= 1
            if self._count < STEPS[self._step][0]:
                self._step -= 1
            return
        if old is None:
            self._count += 1
            if self._count > STEPS[self._step][1]:
                self._step += 1
        self.put(new.metadata.name)

    async def work(self, key: tuple[str, ...]) -> bool:
        (name,) = key
        node = self.lister("", "nodes", Node).get("", name)
        wanted = str(STEPS[self._step][2])
        if node is None or node.metadata.annotations.get(ANNOTATION) == wanted:
            return True
        patch = {"metadata": {"annotations": {ANNOTATION: wanted}}}
        try:
            await self.client.patch(self.resource("", "nodes"), "", name, patch)
        except ApiError as e:
            if e.code != 404:
                raise
        return True
