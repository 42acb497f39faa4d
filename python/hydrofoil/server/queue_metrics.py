"""Metrics of queues and controllers (client-go `util/workqueue/metrics.go`, component-base `metrics/prometheus`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from weakref import WeakSet

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.controllers.options import NAMES
from hydrofoil.controllers.runtime.controller import Controller
from hydrofoil.watch.queue import Queue

QUEUES = {
    "": "ipaddresses",
    "clusterrole-aggregation": "ClusterRoleAggregator",
    "garbagecollector": "garbage_collector_attempt_to_delete",
    "pv-protection": "pvprotection",
    "pvc-protection": "pvcprotection",
    "root-ca-cert-publisher": "root_ca_cert_publisher",
    "serviceaccount-token": "serviceaccount_tokens_service",
    "vac-protection": "vacprotection",
}
"""The names of the queues of controllers that have other names than these."""
NAME = ("name",)


class QueueMetrics(Collector):
    """The queues of one server; those that are there when the metrics are reset are not shown again, as upstream."""

    def __init__(self) -> None:
        self._queues: list[tuple[str, Queue]] = []
        self._controllers: Callable[[], Iterable[Controller]] = tuple
        self._forgotten: WeakSet[Queue] = WeakSet()

    def add(self, name: str, queue: Queue) -> None:
        """Show a queue."""
        self._queues.append((name, queue))

    def follow(self, controllers: Callable[[], Iterable[Controller]]) -> None:
        """Show the queues of controllers that run."""
        self._controllers = controllers

    def forget(self) -> None:
        """Forget all counts."""
        self._forgotten.update(queue for _, queue in self._present())

    def _present(self) -> list[tuple[str, Queue]]:
        running = [(QUEUES.get(c.name, c.name), c.queue) for c in self._controllers()]
        return sorted((*self._queues, *running), key=lambda pair: pair[0])

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        shown = [(name, queue) for name, queue in self._present() if queue not in self._forgotten]
        if not shown:
            return
        depth = GaugeMetricFamily("workqueue_depth", "[BETA] Current depth of workqueue", labels=NAME)
        text = "[BETA] Total number of adds handled by workqueue"
        added = CounterMetricFamily("workqueue_adds", text, labels=NAME)
        text = "[BETA] Total number of retries handled by workqueue"
        repeated = CounterMetricFamily("workqueue_retries", text, labels=NAME)
        text = "[BETA] How long in seconds an item stays in workqueue before being requested."
        waited = HistogramMetricFamily("workqueue_queue_duration_seconds", text, labels=NAME)
        text = "[BETA] How long in seconds processing an item from workqueue takes."
        took = HistogramMetricFamily("workqueue_work_duration_seconds", text, labels=NAME)
        text = (
            "[BETA] How many seconds of work has done that is in progress and hasn't been observed by work_duration. "
            "Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at "
            "which this increases."
        )
        unfinished = GaugeMetricFamily("workqueue_unfinished_work_seconds", text, labels=NAME)
        text = "[BETA] How many seconds has the longest running processor for workqueue been running."
        longest = GaugeMetricFamily("workqueue_longest_running_processor_seconds", text, labels=NAME)
        for name, queue in shown:
            counts, under_way = queue.counts, queue.under_way()
            depth.add_metric((name,), queue.depth)
            added.add_metric((name,), counts.added)
            repeated.add_metric((name,), counts.repeated)
            for family, found in ((waited, counts.waited), (took, counts.took)):
                family.add_metric((name,), found.cumulative(), found.sum)
            unfinished.add_metric((name,), sum(under_way))
            longest.add_metric((name,), max(under_way, default=0.0))
        yield from (depth, added, repeated, waited, took, unfinished, longest)
        text = "[BETA] Indicates where instances of a controller are currently running"
        running = GaugeMetricFamily("running_managed_controllers", text, labels=("name", "manager"))
        for controller in self._controllers():
            if controller.name:
                running.add_metric((NAMES[controller.name], "kube-controller-manager"), 1)
        if running.samples:
            yield running
