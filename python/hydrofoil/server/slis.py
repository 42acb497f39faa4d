"""`/metrics/slis`: the health checks as metrics (component-base `metrics/prometheus/slis`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.server.health import Health


class Slis(Collector):
    """The outcomes of health checks: the latest, and how often each was seen."""

    def __init__(self, health: Health, started: float) -> None:
        """Take the start in seconds since 1970."""
        self._health = health
        self._started = started
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def describe(self) -> Iterable[Metric]:
        """Yield nothing: the names are not checked against others."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        text = "[STABLE] This metric records the result of a single healthcheck."
        latest = GaugeMetricFamily("kubernetes_healthcheck", text, labels=("name", "type"))
        text = "[STABLE] This metric records the results of all healthcheck."
        total = CounterMetricFamily("kubernetes_healthchecks", text, labels=("name", "status", "type"))
        for endpoint, name, passes in self._health.states():
            latest.add_metric((name, endpoint), passes)
        for (endpoint, name, status), count in self._health.counts.items():
            total.add_metric((name, status, endpoint), count)
        yield latest
        yield total
        text = "[ALPHA] Start time of the process since unix epoch in seconds."
        yield GaugeMetricFamily("process_start_time_seconds", text, value=self._started)

    async def text(self) -> bytes:
        """Return the exposition."""
        return re.sub(rb"(?m)\.0$", b"", generate_latest(self._registry))
