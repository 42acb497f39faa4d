"""The scheduler as a controller among others: it runs in the server that leads."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor
from hydrofoil.scheduler.scheduler import Scheduler

SCHEDULER = Descriptor(
    "kube-scheduler",
    lambda deps: Scheduler.served(deps.registry.catalog),
    lambda runtime, _: Scheduler(runtime),
)
