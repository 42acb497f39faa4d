"""Pods: on a node they get time to stop."""

from __future__ import annotations

from hydrofoil.engine import Draft
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.strategies.base import Strategy


class PodStrategy(Strategy):
    """Pods that run are given a grace period."""

    def grace_period(self, draft: Draft, options: DeleteOptions) -> int | None:
        if not draft.get(["spec", "nodeName"]):
            return 0
        if draft.get(["status", "phase"]) in (b'"Failed"', b'"Succeeded"'):
            return 0
        if options.grace is not None:
            return 1 if options.grace < 0 else options.grace
        return int(draft.get(["spec", "terminationGracePeriodSeconds"]) or b"30")
