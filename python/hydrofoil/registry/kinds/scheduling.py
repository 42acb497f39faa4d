"""The group scheduling.k8s.io: priority classes."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.registry.strategy import Strategy

SYSTEM = ("system-cluster-critical", "system-node-critical")


class PriorityClassStrategy(Strategy):
    """Keep the classes of the system (`pkg/registry/scheduling/priorityclass/storage`)."""

    def check_removal(self, name: str) -> None:
        if name in SYSTEM:
            why = "this is a system priority class and cannot be deleted"
            raise errors.forbidden("scheduling.k8s.io", "priorityclasses", name, why)
