"""Repair of the record of node ports (kube-apiserver `portallocator/controller/repair.go`)."""

from __future__ import annotations

import asyncio
from collections import Counter

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.runtime.controller import Controller, Watch
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.registry.kinds.services import ServiceStrategy
from hydrofoil.registry.store import Registry

INTERVAL = 180.0
"""The time in seconds between two looks (`repairServicesInterval`)."""
LOOKS = 3
"""The number of looks at which a port had no service, after which it is unused."""


class PortRepair(Controller):
    """Record the ports of all services, and free those that a server which ended had recorded for none."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._seen: Counter[int] = Counter()
        """How often each recorded port had no service."""
        self._timer: asyncio.TimerHandle | None = None

    @staticmethod
    def served(catalog: Catalog, registry: Registry) -> bool:
        """Report whether services are served and other servers may write them: only then there is a record."""
        return not registry.storage.direct and catalog.find("", "v1", "services") is not None

    def watches(self) -> tuple[Watch, ...]:
        return ()

    def start(self) -> None:
        super().start()
        self._look()

    def _look(self) -> None:
        self._timer = self.registry.clock.machine.later(INTERVAL, self._look)
        self.put("ports")

    async def work(self, key: tuple[str, ...]) -> bool:
        strategy = self.registry.strategy(self.resource("", "services"))
        assert isinstance(strategy, ServiceStrategy)
        await strategy.held().fresh()
        leaked = {port for port, times in self._seen.items() if times >= LOOKS - 1}
        found = await strategy.port_records.repair(leaked)
        self._seen = Counter({port: self._seen[port] + 1 for port in found})
        return True

    async def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await super().stop()
