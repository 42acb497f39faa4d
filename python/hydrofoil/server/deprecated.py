"""Metrics that upstream has deprecated: shown for some releases, then hidden unless requested (DEP-26 to DEP-29)."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from hydrofoil.endpoints.filters.in_flight import InFlight
    from hydrofoil.registry.store import Registry

LOG = logging.getLogger("hydrofoil")
HIDDEN = (
    "apiserver_request_slo_duration_seconds",
    "apiserver_storage_db_total_size_in_bytes",
    "apiserver_flowcontrol_request_concurrency_in_use",
    "kube_apiserver_pod_logs_pods_logs_backend_tls_failure_total",
)
"""The families that are not shown."""
REMEDY = "[DEPRECATED, consider using apiserver_resource_objects instead]"


class Objects(Collector):
    """`apiserver_storage_objects`, which is stable and therefore shown for three releases."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        text = (
            "Number of stored objects at the time of last check split by kind. In case of a fetching error, the value"
        )
        objects = GaugeMetricFamily(
            "apiserver_storage_objects",
            f"[STABLE] (Deprecated since 1.34.0) {REMEDY} {text} will be -1.",
            labels=("resource",),
        )
        counted = set()
        for resource in self._registry.catalog.resources():
            if "list" in resource.verbs and resource.storage == (resource.group, resource.plural):
                name = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
                if name not in counted:
                    counted.add(name)
                    objects.add_metric((name,), self._registry.collection(resource).stats().objects)
        yield objects


class Hidden(Collector):
    """Metrics shown with `--show-hidden-metrics-for-version` only."""

    def __init__(self, registry: Registry, inflight: InFlight) -> None:
        self._registry = registry
        self._inflight = inflight

    def collect(self) -> Iterable[Metric]:
        held = GaugeMetricFamily(
            "apiserver_storage_db_total_size_in_bytes",
            "[ALPHA] (Deprecated since 1.28.0) Total size of the storage database file physically allocated in bytes.",
            labels=("endpoint",),
        )
        resources = self._registry.catalog.resources()
        kept = {r.storage: r for r in resources if "list" in r.verbs}
        held.add_metric(("memory",), sum(self._registry.collection(r).stats().bytes for r in kept.values()))
        yield held
        seats = (
            "Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage"
        )
        used = GaugeMetricFamily(
            "apiserver_flowcontrol_request_concurrency_in_use",
            f"[ALPHA] (Deprecated since 1.31.0) {seats} otherwise) requests in the API Priority and Fairness subsystem",
            labels=("flow_schema", "priority_level"),
        )
        used.add_metric(("exempt", "exempt"), self._inflight.reading.taken + self._inflight.writing.taken)
        yield used
        # No log is read from a node here.
        yield CounterMetricFamily(
            "kube_apiserver_pod_logs_pods_logs_backend_tls_failure",
            "[ALPHA] (Deprecated since 1.27.0) Total number of requests for pods/logs that failed due to kubelet "
            "server TLS verification",
            value=0,
        )


def warn() -> None:
    """Log a warning of deprecated metrics that are shown."""
    for name in HIDDEN:
        LOG.warning("Hidden metrics (%s) have been manually overridden, showing this very deprecated metric.", name)
