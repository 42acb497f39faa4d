"""The parts of a server that plug-ins may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from hydrofoil.outbound.services import Services
from hydrofoil.registry.store import Registry
from hydrofoil.watch.hub import Hub

if TYPE_CHECKING:
    from hydrofoil.admission.policies.metrics import Metrics as PolicyMetrics
    from hydrofoil.admission.webhooks.metrics import Metrics as WebhookMetrics


class Measures(Collector):
    """Metrics that are made when something is to be counted."""

    def __init__(self) -> None:
        self._webhooks: WebhookMetrics | None = None
        self._policies: PolicyMetrics | None = None

    def webhooks(self) -> WebhookMetrics:
        """Return the metrics of webhooks, which both kinds share."""
        if self._webhooks is None:
            from hydrofoil.admission.webhooks.metrics import Metrics

            self._webhooks = Metrics()
        return self._webhooks

    def policies(self) -> PolicyMetrics:
        """Return the metrics of policies, which both kinds share."""
        if self._policies is None:
            from hydrofoil.admission.policies.metrics import Metrics

            self._policies = Metrics()
        return self._policies

    def collect(self) -> Iterable[Metric]:
        """Return what was counted."""
        for made in (self._webhooks, self._policies):
            if made is not None:
                yield from made.collect()


class PluginDependencies(Struct, frozen=True):
    """The parts of one server that plug-ins are made of."""

    registry: Registry
    hub: Hub
    services: Services
    metrics: Measures = field(default_factory=Measures)
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """The configuration of plug-ins, by their names."""
    rehearses: bool = False
    """Whether webhooks see a dry run in every write."""
