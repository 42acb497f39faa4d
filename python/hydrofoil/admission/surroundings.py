"""The parts of a server that plug-ins may use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from hydrofoil.outbound.services import Services
from hydrofoil.registry.store import Registry
from hydrofoil.watch.hub import Hub

if TYPE_CHECKING:
    from hydrofoil.admission.webhooks.metrics import Metrics as WebhookMetrics


class Measures(Collector):
    """Metrics that are made when something is to be counted."""

    def __init__(self) -> None:
        self.made: dict[str, WebhookMetrics] = {}

    def webhooks(self) -> WebhookMetrics:
        """Return the metrics of webhooks, which both kinds share."""
        found = self.made.get("webhooks")
        if found is None:
            from hydrofoil.admission.webhooks.metrics import Metrics

            found = self.made["webhooks"] = Metrics()
        return found

    def collect(self) -> Iterable[Metric]:
        """Return what was counted."""
        for made in self.made.values():
            yield from made.collect()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The parts of one server that plug-ins are made of."""

    registry: Registry
    hub: Hub
    services: Services
    metrics: Measures = field(default_factory=Measures)
