"""Metrics of the store: sizes, reads and writes by resource (apiserver `storage/cacher` and `storage/etcd3`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.counting import Histogram
from hydrofoil.storage.collection import WAITS, Stats, Uses

if TYPE_CHECKING:
    from hydrofoil.registry.store import Registry

PAIR = ("group", "resource")
LOADS = (
    ("list", "Number of LIST requests served from storage"),
    ("list_fetched_objects", "Number of objects read from storage in the course of serving a LIST request"),
    (
        "list_evaluated_objects",
        "Number of objects tested in the course of serving a LIST request from storage",
    ),
    ("list_returned_objects", "Number of objects returned for a LIST request from storage"),
)
"""The counters of lists from the storage, which is read once for each collection: the view answers all lists."""
DIGITS = 10**15
"""A number above the digits of a version that are shown: more do not fit in a float."""
CLUSTER = "hydrofoil-0"
"""The name of the one place where objects are kept."""


class StoreMetrics:
    """The collections of one server, at one time."""

    def __init__(self, collections: list[tuple[tuple[str, str], Stats, Uses, int]]) -> None:
        """Take sizes, uses and revisions by group and plural."""
        self._collections = collections

    @classmethod
    def taken(cls, registry: Registry) -> StoreMetrics:
        """Return the present state, for another thread."""
        found = []
        for resource in registry.catalog.resources():
            if "list" in resource.verbs and resource.group == resource.storage_group:
                collection = registry.collection(resource)
                pair = (resource.group, resource.plural)
                found.append((pair, collection.stats(), collection.uses.copy(), collection.revision))
        return cls(found)

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        text = "[ALPHA] Number of stored objects at the time of last check split by kind."
        objects = GaugeMetricFamily("apiserver_resource_objects", text, labels=PAIR)
        text = "[ALPHA] Estimated size of stored objects in database. Estimate is based on sum of last observed sizes."
        sizes = GaugeMetricFamily("apiserver_resource_size_estimate_bytes", text, labels=PAIR)
        text = "[ALPHA] Number of LIST requests served from watch cache"
        lists = CounterMetricFamily("apiserver_cache_list", text, labels=(*PAIR, "index"))
        text = "[ALPHA] Number of objects read from watch cache in the course of serving a LIST request"
        fetched = CounterMetricFamily("apiserver_cache_list_fetched_objects", text, labels=(*PAIR, "index"))
        text = "[ALPHA] Number of objects returned for a LIST request from watch cache"
        returned = CounterMetricFamily("apiserver_cache_list_returned_objects", text, labels=PAIR)
        text = "[ALPHA] Counter of events received in watch cache broken by resource type."
        received = CounterMetricFamily("apiserver_watch_cache_events_received", text, labels=PAIR)
        text = "[ALPHA] Counter of events dispatched in watch cache broken by resource type."
        sent = CounterMetricFamily("apiserver_watch_cache_events_dispatched", text, labels=PAIR)
        text = "[BETA] Number of etcd events received split by kind."
        stored = CounterMetricFamily("apiserver_storage_events_received", text, labels=PAIR)
        text = "[ALPHA] Etcd request counts for each operation and object type."
        requests = CounterMetricFamily("etcd_requests", text, labels=("operation", *PAIR))
        text = "[ALPHA] Etcd request latency in seconds for each operation and object type."
        seconds = HistogramMetricFamily("etcd_request_duration_seconds", text, labels=("operation", *PAIR))
        text = (
            "[ALPHA] Current resource version of watch cache broken by resource type. This is truncated to the 15 "
            "least significant digits."
        )
        versions = GaugeMetricFamily("apiserver_watch_cache_resource_version", text, labels=PAIR)
        held = 0
        for pair, stats, uses, revision in self._collections:
            held += stats.bytes
            objects.add_metric(pair, stats.objects)
            sizes.add_metric(pair, stats.bytes)
            versions.add_metric(pair, revision % DIGITS)
            if uses.lists:
                lists.add_metric((*pair, ""), uses.lists)
                fetched.add_metric((*pair, ""), uses.fetched)
                returned.add_metric(pair, uses.returned)
            events = 0
            for operation, histogram in uses.writes.items():
                count = sum(histogram.counts)
                events += count
                requests.add_metric((operation, *pair), count)
                seconds.add_metric((operation, *pair), histogram.cumulative(), histogram.sum)
            if events:
                # Each write is an event, and each event reaches the watchers in the turn of its write.
                received.add_metric(pair, events)
                sent.add_metric(pair, events)
                stored.add_metric(pair, events)
        yield from (objects, sizes, lists, fetched, returned, received, sent, stored, requests, seconds, versions)
        yield from self._reads()
        yield from self._loads()
        text = "[STABLE] Size of the storage database file physically allocated in bytes."
        total = GaugeMetricFamily("apiserver_storage_size_bytes", text, labels=("storage_cluster_id",))
        total.add_metric((CLUSTER,), held)
        yield total

    def _reads(self) -> Iterable[Metric]:
        """Yield the families of reads that the view must be up to date for."""
        text = "[ALPHA] Counter for consistent reads from cache."
        reads = CounterMetricFamily(
            "apiserver_watch_cache_consistent_read", text, labels=(*PAIR, "success", "fallback")
        )
        text = "[ALPHA] Histogram of time spent waiting for a watch cache to become fresh."
        waits = HistogramMetricFamily("apiserver_watch_cache_read_wait_seconds", text, labels=PAIR)
        for pair, _, uses, _ in self._collections:
            # No list is answered by the log instead.
            for success, count in (("true", uses.consistent), ("false", uses.lagged)):
                if count:
                    reads.add_metric((*pair, success, "false"), count)
            waited = uses.waited or Histogram(WAITS)
            waited.observe(0.0, max(0, uses.consistent - sum(waited.counts)))
            if any(waited.counts):
                waits.add_metric(pair, waited.cumulative(), waited.sum)
        yield from (reads, waits)

    def _loads(self) -> Iterable[Metric]:
        """Yield the families of the reads of the log, one for each collection."""
        text = "[ALPHA] Counter of watch cache initializations broken by resource type."
        begun = CounterMetricFamily("apiserver_watch_cache_initializations", text, labels=PAIR)
        lists, *objects = (
            CounterMetricFamily(f"apiserver_storage_{name}", f"[ALPHA] {text}", labels=PAIR) for name, text in LOADS
        )
        for pair, _, uses, _ in self._collections:
            if uses.loads:
                begun.add_metric(pair, uses.loads)
                lists.add_metric(pair, uses.loads)
                for family in objects:
                    family.add_metric(pair, uses.loaded)
        yield from (begun, lists, *objects)


class Handshakes(Collector):
    """Failed handshakes of TLS."""

    def __init__(self, failed: Callable[[], int]) -> None:
        self._failed = failed

    def collect(self) -> Iterable[Metric]:
        """Yield the family."""
        text = "[ALPHA] Number of requests dropped with 'TLS handshake error from' error"
        yield CounterMetricFamily("apiserver_tls_handshake_errors", text, self._failed())
