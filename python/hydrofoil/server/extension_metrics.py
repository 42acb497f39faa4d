"""Metrics of definitions and API services; loaded with the first look at metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from hydrofoil.counting import Histogram
from hydrofoil.engine import rule_durations


class ExtensionMetrics:
    """The definitions and API services of one server, at one time."""

    def __init__(
        self, aggregations: int, available: Mapping[str, bool], outages: Mapping[tuple[str, str], int]
    ) -> None:
        """Take how often discovery was made, whether each API service is available, and how often each one ceased to be
        for each reason."""
        self._aggregations = aggregations
        self._available = available
        self._outages = outages
        self._rules = rule_durations()

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        # Those of the whole process, as upstream (apiserver `pkg/cel/metrics`); of rules in definitions only.
        for name, rules in zip(("compilation", "evaluation"), self._rules, strict=True):
            spread = Histogram.of(rules)
            text = f"[BETA] CEL {name} time in seconds."
            family = HistogramMetricFamily(f"apiserver_cel_{name}_duration_seconds", text)
            family.add_metric((), spread.cumulative(), spread.sum)
            yield family
        # apiserver `pkg/endpoints/discovery/aggregated/metrics.go`
        text = "[ALPHA] Counter of number of times discovery was aggregated"
        yield CounterMetricFamily("aggregator_discovery_aggregation_count", text, self._aggregations)
        # kube-aggregator `pkg/controllers/status/metrics`
        text = "Gauge of APIServices which are marked as unavailable broken down by APIService name."
        name = "aggregator_unavailable_apiservice"
        gauge = GaugeMetricFamily(name, f"[ALPHA] {text}", labels=("name",))
        for service, available in self._available.items():
            gauge.add_metric((service,), not available)
        yield gauge
        text = "Counter of APIServices which are marked as unavailable broken down by APIService name and reason."
        counter = CounterMetricFamily(name, f"[ALPHA] {text}", labels=("name", "reason"))
        for labels, count in self._outages.items():
            counter.add_metric(labels, count)
        yield counter
