"""Metrics of a gateway."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.clock import stopwatch
from hydrofoil.server.gateway.mirrors import Mirrors
from hydrofoil.server.gateway.passing import Passing
from hydrofoil.server.gateway.reads import Reads
from hydrofoil.server.gateway.rights import Rights
from hydrofoil.storage.upstream.contact import Contact

RESOURCE = ("group", "version", "resource")


class GatewayMetrics(Collector):
    """What a gateway has answered itself, what it has asked of the upstream, and how old its view is."""

    def __init__(self, contact: Contact, mirrors: Mirrors, reads: Reads, passing: Passing, rights: Rights) -> None:
        self._contact = contact
        self._mirrors = mirrors
        self._reads = reads
        self._passing = passing
        self._rights = rights

    def describe(self) -> Iterable[Metric]:
        """Yield nothing: the names are not checked against others."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        up = GaugeMetricFamily("hydrofoil_upstream_up", "Whether the upstream answers.")
        up.add_metric((), 0 if self._contact.away else 1)
        yield up
        text = "Reads of resources, by verb, and by whether they were answered here or there."
        reads = CounterMetricFamily("hydrofoil_upstream_reads", text, labels=("verb", "answered"))
        for (verb, where), count in self._reads.counts.items():
            reads.add_metric((verb, where), count)
        yield reads
        passed = CounterMetricFamily(
            "hydrofoil_upstream_passed_requests", "Requests passed on to the upstream.", labels=("verb",)
        )
        for verb, count in self._passing.counts.items():
            passed.add_metric((verb,), count)
        yield passed
        text = "Reviews of callers and rights that the upstream was asked for."
        reviews = CounterMetricFamily("hydrofoil_upstream_reviews", text, labels=("kind", "result"))
        for (kind, result), count in self._rights.counts.items():
            reviews.add_metric((kind, result), count)
        yield reviews
        text = "Reviews that were kept from earlier requests."
        yield CounterMetricFamily("hydrofoil_upstream_review_hits", text, value=self._rights.hits)
        text = "Requests for the version of a resource at the upstream."
        yield CounterMetricFamily("hydrofoil_upstream_version_requests", text, value=self._mirrors.log.asked)
        yield from self._views()

    def _views(self) -> Iterable[Metric]:
        text = "Seconds since a part of the view was last known to be as new as the upstream."
        ages = GaugeMetricFamily("hydrofoil_upstream_view_age_seconds", text, labels=RESOURCE)
        objects = GaugeMetricFamily("hydrofoil_upstream_view_objects", "Objects in the view.", labels=RESOURCE)
        sizes = GaugeMetricFamily("hydrofoil_upstream_view_bytes", "Bytes of objects in the view.", labels=RESOURCE)
        watchers = GaugeMetricFamily("hydrofoil_upstream_view_watchers", "Watches of the view.", labels=RESOURCE)
        text = "How often the whole state of a resource was read from the upstream."
        lists = CounterMetricFamily("hydrofoil_upstream_view_lists", text, labels=RESOURCE)
        now = stopwatch()
        for mirror in self._mirrors.all():
            feed = self._mirrors.feed(mirror)
            if mirror.collection is None or feed is None:
                continue
            labels = mirror.served.group, mirror.served.version, mirror.served.plural
            size = mirror.collection.size()
            ages.add_metric(labels, now - feed.heard)
            objects.add_metric(labels, size[0])
            sizes.add_metric(labels, size[1])
            watchers.add_metric(labels, size[2])
            lists.add_metric(labels, feed.lists)
        yield from (ages, objects, sizes, watchers, lists)
