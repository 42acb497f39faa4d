"""`/metrics`, under upstream's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.endpoints.filters.authentication import Attempts
from hydrofoil.endpoints.negotiate import PATCHES
from hydrofoil.server import deprecated

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.apis.gates import Gates
    from hydrofoil.authentication.accounts.tokens import Counts as TokenCounts
    from hydrofoil.endpoints.context import Context
    from hydrofoil.endpoints.filters.in_flight import InFlight
    from hydrofoil.registry.store import Registry
    from hydrofoil.request import RequestInfo

_REQUEST = ("verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component", "code")
_BUCKETS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60)
_VERBS = {
    "get": "GET",
    "list": "LIST",
    "watch": "WATCH",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETECOLLECTION",
}
_DOCUMENT_VERBS = {verb: verb for verb in ("GET", "POST", "PUT", "PATCH", "DELETE")} | {"HEAD": "GET"}
_CONNECTED = frozenset(("log", "exec", "portforward", "attach", "proxy"))


def document_labels(method: str, code: int) -> tuple[str, ...]:
    """Return the labels of a non-resource request; all unknown methods count as one (`cleanVerb`)."""
    return (_DOCUMENT_VERBS.get(method, "other"), "", "", "", "", "", "", "apiserver", str(code))


def resource_labels(
    verb: str, applies: bool, dry_run: str, resource: Resource, info: RequestInfo, code: int
) -> tuple[str, ...]:
    """Return the labels of a resource request (apiserver `pkg/endpoints/metrics/metrics.go`): their number depends on
    the served resources, not on the requests."""
    name = "CONNECT" if info.subresource in _CONNECTED else "APPLY" if applies else _VERBS.get(verb, "other")
    dry = dry_run if dry_run in ("", "All") else "invalid"
    return (name, dry, *_where(verb, resource, info), str(code))


def _where(verb: str, resource: Resource, info: RequestInfo) -> tuple[str, ...]:
    """Return group, version, resource, subresource, scope and component of a request."""
    scope = "resource" if info.name or verb == "create" else "namespace" if info.namespace else "cluster"
    return (resource.group, resource.version, resource.plural, info.subresource, scope, "apiserver")


def _labels(context: Context, verb: str, resource: Resource, code: int) -> tuple[str, ...]:
    applies = verb == "patch" and PATCHES.get(context.request.headers.get("Content-Type", "")) == "apply"
    return resource_labels(verb, applies, context.params.get("dryRun", ""), resource, context.info, code)


class Metrics:
    """Counts of requests and watches, and sizes of the store."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "apiserver_request_total",
            "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, "
            "scope, component, and HTTP response code.",
            _REQUEST,
            registry=self.registry,
        )
        self.seconds = Histogram(
            "apiserver_request_duration_seconds",
            "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, "
            "resource, subresource, scope and component.",
            _REQUEST[:-1],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.long_running = Gauge(
            "apiserver_longrunning_requests",
            "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, "
            "resource, scope and component. Not all requests are tracked this way.",
            ("verb", "group", "version", "resource", "subresource", "scope", "component"),
            registry=self.registry,
        )
        self.deprecated = Gauge(
            "apiserver_requested_deprecated_apis",
            "[STABLE] Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, "
            "subresource, and removed_release.",
            ("group", "version", "resource", "subresource", "removed_release"),
            registry=self.registry,
        )
        self.attempts = Attempts()
        self.registry.register(_Logins(self.attempts))
        ProcessCollector(registry=self.registry)
        self._children: dict[tuple[str, ...], tuple[Counter, Histogram]] = {}
        self._slo: Histogram | None = None

    def reset(self) -> None:
        """Reset all counts."""
        self._children.clear()
        for metric in (self.requests, self.seconds, self.deprecated):
            metric.clear()

    def watch_store(self, registry: Registry) -> None:
        """Expose the sizes of a store."""
        self.registry.register(_StoreSizes(registry))
        self.registry.register(deprecated.Objects(registry))

    def show_hidden(self, registry: Registry, inflight: InFlight) -> None:
        """Expose metrics that upstream has hidden, too (DEP-29)."""
        deprecated.warn()
        self.registry.register(deprecated.Hidden(registry, inflight))
        self._slo = deprecated.slo(self.registry)

    def watch_tokens(self, counts: TokenCounts) -> None:
        """Expose the numbers of used service account tokens."""
        self.registry.register(_TokenUses(counts))

    def watch_requests(self, reading: Callable[[], int], writing: Callable[[], int]) -> None:
        """Expose the number of requests in flight, by functions that return it."""
        kinds = Gauge(
            "apiserver_current_inflight_requests",
            "[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in "
            "last second.",
            ("request_kind",),
            registry=self.registry,
        )
        kinds.labels("readOnly").set_function(reading)
        kinds.labels("mutating").set_function(writing)

    def show(self, collectors: Iterable[Collector]) -> None:
        """Expose the metrics of other rooms."""
        for collector in collectors:
            self.registry.register(collector)

    def show_gates(self, gates: Gates) -> None:
        """Expose the states of the feature gates."""
        self.registry.register(_Features(gates))

    def observe(self, labels: tuple[str, ...], seconds: float) -> None:
        """Count one answered request."""
        found = self._children.get(labels)
        if found is None:
            found = self._children[labels] = (self.requests.labels(*labels), self.seconds.labels(*labels[:-1]))
        found[0].inc()
        found[1].observe(seconds)
        if self._slo is not None:
            # Verb and scope, without dry run and code.
            self._slo.labels(labels[0], *labels[2:-1]).observe(seconds)

    def dropped(self, context: Context) -> None:
        """Count a request refused for lack of a place (`RecordDroppedRequest`), if its resource exists."""
        info = context.info
        resource = context.registry.catalog.find(info.group, info.version, info.resource)
        if resource is not None:
            self.requests.labels(*_labels(context, info.verb, resource, 429)).inc()

    def answered(self, context: Context, code: int, seconds: float) -> None:
        """Count a request that reached a handler."""
        if not context.counted:
            return
        info, resource = context.info, context.served
        if resource is None:
            self.observe(document_labels(context.request.method, code), seconds)
            return
        self.observe(_labels(context, context.verb, resource, code), seconds)
        if resource.deprecation:
            removed = resource.raw.get("lifecycle", {}).get("removed", "")
            self.deprecated.labels(resource.group, resource.version, resource.plural, info.subresource, removed).set(1)

    def watching(self, context: Context) -> Callable[[], None]:
        """Count a watch until the returned function is called."""
        watches: Gauge = self.long_running.labels("WATCH", *_where("watch", context.resource, context.info))
        watches.inc()
        return watches.dec

    def text(self) -> bytes:
        """Return the exposition."""
        text = generate_latest(self.registry)
        # Integers are written without a fraction, as in Go; some of upstream's counters have a suffix of their own.
        return re.sub(rb"(?m)\.0$", b"", text).replace(b"_count_total", b"_count")


class _Features(Collector):
    def __init__(self, gates: Gates) -> None:
        self._gates = gates

    def collect(self) -> Iterable[Metric]:
        features = GaugeMetricFamily(
            "kubernetes_feature_enabled",
            "[BETA] This metric records the data about the stage and enablement of a k8s feature.",
            labels=("name", "stage"),
        )
        for name, stage, on in self._gates.states():
            features.add_metric((name, stage), on)
        yield features


class _Logins(Collector):
    """Logins, and requests by user (apiserver `pkg/endpoints/filters/metrics.go`)."""

    def __init__(self, attempts: Attempts) -> None:
        self._attempts = attempts

    def collect(self) -> Iterable[Metric]:
        found = self._attempts
        attempts = GaugeMetricFamily(
            "authentication_attempts", "[ALPHA] Counter of authenticated attempts.", labels=("result",)
        )
        attempts.type = "counter"
        for result, count in (("success", found.success), ("failure", found.failure)):
            if count:
                attempts.add_metric((result,), count)
        yield attempts
        users = GaugeMetricFamily(
            "authenticated_user_requests",
            "[ALPHA] Counter of authenticated requests broken out by username.",
            labels=("username",),
        )
        users.type = "counter"
        for name, count in sorted(found.users.items()):
            users.add_metric((name,), count)
        yield users


class _TokenUses(Collector):
    """Uses of service account tokens (`pkg/serviceaccount/metrics.go`)."""

    def __init__(self, counts: TokenCounts) -> None:
        self._counts = counts

    def collect(self) -> Iterable[Metric]:
        counts = self._counts
        for name, text, value in (
            ("legacy_tokens", "legacy service account tokens", counts.legacy),
            ("stale_tokens", "stale projected service account tokens", counts.stale),
            ("valid_tokens", "valid projected service account tokens", counts.valid),
            ("legacy_auto_token_uses", "auto-generated legacy tokens", counts.auto_uses),
            ("legacy_manual_token_uses", "manually created legacy tokens", counts.manual_uses),
            ("invalid_legacy_auto_token_uses", "invalid auto-generated legacy tokens", counts.invalid_uses),
        ):
            yield CounterMetricFamily(f"serviceaccount_{name}", f"[ALPHA] Cumulative {text} used", value)


class _StoreSizes(Collector):
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        objects = GaugeMetricFamily(
            "apiserver_resource_objects",
            "[ALPHA] Number of stored objects at the time of last check split by kind.",
            labels=("group", "resource"),
        )
        size = GaugeMetricFamily(
            "apiserver_resource_size_estimate_bytes",
            "[ALPHA] Estimated size of stored objects in database. Estimate is based on sum of last observed sizes.",
            labels=("group", "resource"),
        )
        for resource in self._registry.catalog.resources():
            if "list" in resource.verbs and resource.group == resource.storage_group:
                count, held, _ = self._registry.collection(resource).stats()
                objects.add_metric((resource.group, resource.plural), count)
                size.add_metric((resource.group, resource.plural), held)
        yield objects
        yield size
