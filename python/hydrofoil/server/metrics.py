"""`/metrics`, under upstream's names."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.endpoints.filters.authentication import Attempts
from hydrofoil.endpoints.filters.authorization import Decisions
from hydrofoil.endpoints.negotiate import PATCHES
from hydrofoil.endpoints.watching import Watching
from hydrofoil.headers import CONTENT_TYPE
from hydrofoil.pace.pacer import Pacer
from hydrofoil.server import deprecated
from hydrofoil.server.build_metrics import BuildMetrics, families_by_stability
from hydrofoil.server.login_metrics import Credentials, Logins
from hydrofoil.server.queue_metrics import QueueMetrics
from hydrofoil.server.request_metrics import Requests
from hydrofoil.server.store_metrics import Handshakes, StoreMetrics
from hydrofoil.server.watch_metrics import Watched, Watches

if TYPE_CHECKING:
    from hydrofoil.answer import Stream
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.apis.gates import Gates
    from hydrofoil.authentication.accounts.tokens import Counts as TokenCounts
    from hydrofoil.authentication.cache import Fetches
    from hydrofoil.counting import Histogram
    from hydrofoil.endpoints.context import Context
    from hydrofoil.endpoints.filters.in_flight import InFlight
    from hydrofoil.registry.store import Registry
    from hydrofoil.request import RequestInfo


class Collects(Protocol):
    """Numbers of one time."""

    def collect(self) -> Iterable[Metric]:
        """Yield their families."""


InKinds = tuple[Callable[[], int], Callable[[], int]]
"""The numbers of requests that read, and that write."""
Extensions = tuple[Callable[[], int], Callable[[], dict[str, bool]], Callable[[], dict[tuple[str, str], int]]]
"""The parameters of `ExtensionMetrics`."""
BODIES = {
    "create": "create",
    "update": "update",
    "patch": "patch",
    "delete": "delete",
    "deletecollection": "delete_collection",
}
"""The verbs of bodies (`RequestBodyVerb`)."""
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


def document_labels(method: str) -> tuple[str, ...]:
    """Return the labels of a non-resource request; all unknown methods count as one (`cleanVerb`)."""
    return (_DOCUMENT_VERBS.get(method, "other"), "", "", "", "", "", "", "apiserver")


def resource_labels(verb: str, applies: bool, dry_run: str, resource: Resource, info: RequestInfo) -> tuple[str, ...]:
    """Return the labels of a resource request (apiserver `pkg/endpoints/metrics/metrics.go`): their number depends on
    the served resources, not on the requests."""
    name = "CONNECT" if info.subresource in _CONNECTED else "APPLY" if applies else _VERBS.get(verb, "other")
    dry = dry_run if dry_run in ("", "All") else "invalid"
    return (name, dry, *_where(verb, resource, info))


def _where(verb: str, resource: Resource, info: RequestInfo) -> tuple[str, ...]:
    """Return group, version, resource, subresource, scope and component of a request."""
    scope = "resource" if info.name or verb == "create" else "namespace" if info.namespace else "cluster"
    return (resource.group, resource.version, resource.plural, info.subresource, scope, "apiserver")


def _labels(context: Context, verb: str, resource: Resource) -> tuple[str, ...]:
    applies = verb == "patch" and PATCHES.get(context.request.headers.get(CONTENT_TYPE, "")) == "apply"
    return resource_labels(verb, applies, context.params.get("dryRun", ""), resource, context.info)


class Metrics:
    """Counts of requests and watches, and sizes of the store."""

    def __init__(self) -> None:
        self.registry = Collectors()
        self.requests = Requests()
        self.watches = Watches()
        self._store: Registry | None = None
        self._extensions: Extensions | None = None
        self._credentials: Callable[[], tuple[Fetches, Histogram]] | None = None
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
        self.decisions = Decisions()
        self.queues = QueueMetrics()
        self.registry.register(self.queues)
        self._build: BuildMetrics | None = None
        ProcessCollector(registry=self.registry)

    def reset(self) -> None:
        """Reset all counts."""
        self.requests.reset()
        self.watches.reset()
        self.deprecated.clear()
        self.queues.forget()
        if self._build is not None:
            self._build.forgotten = True

    def watch_store(self, registry: Registry) -> None:
        """Expose the sizes of a store."""
        self._store = registry
        self.registry.register(deprecated.Objects(registry))

    def show_hidden(self, registry: Registry, inflight: InFlight) -> None:
        """Expose metrics that upstream has hidden, too (DEP-29)."""
        deprecated.warn()
        self.registry.register(deprecated.Hidden(registry, inflight))
        self.requests.hidden = True

    def watch_tokens(self, counts: TokenCounts) -> None:
        """Expose the numbers of used service account tokens."""
        self.registry.register(_TokenUses(counts))

    def watch_credentials(self, taken: Callable[[], tuple[Fetches, Histogram]]) -> None:
        """Expose the use of kept logins, and how long the certificates of requests were still valid."""
        self._credentials = taken

    def watch_requests(self, running: InKinds, queued: InKinds) -> None:
        """Expose the numbers of requests in flight and in queues: those that read, and those that write."""
        for name, text, counts in (
            ("inflight", "[STABLE] Maximal number of currently used inflight request limit of this apiserver", running),
            ("inqueue", "[ALPHA] Maximal number of queued requests in this apiserver", queued),
        ):
            gauge = Gauge(
                f"apiserver_current_{name}_requests",
                f"{text} per request kind in last second.",
                ("request_kind",),
                registry=self.registry,
            )
            for kind, count in zip(("readOnly", "mutating"), counts, strict=True):
                gauge.labels(kind).set_function(count)

    def watch_extensions(self, counts: Extensions) -> None:
        """Expose how often discovery was made, which API services are available, and how often they ceased to be."""
        self._extensions = counts

    def watch_handshakes(self, failed: Callable[[], int]) -> None:
        """Expose the number of failed handshakes of TLS."""
        self.registry.register(Handshakes(failed))

    def show(self, collectors: Iterable[Collector]) -> None:
        """Expose the metrics of other rooms."""
        for collector in collectors:
            self.registry.register(collector)

    def show_build(self, version: Mapping[str, str], gates: Gates) -> None:
        """Expose what the server is; `version`: the document of `/version`."""
        self._build = BuildMetrics(version, gates, 0 if self.requests.hidden else len(deprecated.HIDDEN))
        self.registry.register(self._build)

    def dropped(self, context: Context) -> None:
        """Count a request refused for lack of a place (`RecordDroppedRequest`), if its resource exists."""
        info = context.info
        resource = context.registry.catalog.find(info.group, info.version, info.resource)
        if resource is not None:
            labels = _labels(context, info.verb, resource)
            self.requests.count(labels, 429)
            self.requests.terminate(labels, 429)

    def terminated(self, context: Context, code: int) -> None:
        """Count a request that the server ended before its answer (`RecordRequestTermination`)."""
        info = context.info
        resource = context.registry.catalog.find(info.group, info.version, info.resource)
        method = context.request.method
        labels = document_labels(method) if resource is None else _labels(context, info.verb, resource)
        self.requests.terminate(labels, code)

    def answered(self, context: Context, code: int, seconds: float) -> None:
        """Count a request that reached a handler."""
        if not context.counted:
            return
        info, resource, size = context.info, context.served, context.answered
        if resource is None:
            self.requests.observe(document_labels(context.request.method), code, seconds, size)
            return
        self.requests.observe(_labels(context, context.verb, resource), code, seconds, size)
        self.requests.validated(context.params.get("fieldValidation", ""))
        if context.sent and context.verb in BODIES:
            self.requests.read(resource.group, resource.plural, BODIES[context.verb], context.sent)
        if resource.deprecation and resource.deprecates(info.subresource):
            removed = resource.raw.get("lifecycle", {}).get("removed", "")
            self.deprecated.labels(resource.group, resource.version, resource.plural, info.subresource, removed).set(1)

    def watching(self, context: Context, stream: Stream) -> Callable[[], None]:
        """Count a watch until the returned function is called."""
        resource = context.resource
        watches: Gauge = self.long_running.labels("WATCH", *_where("watch", resource, context.info))
        watches.inc()
        scope = "resource" if context.info.name else "namespace" if context.info.namespace else "cluster"
        name = Watched(resource.group, resource.version, resource.plural, scope)
        watch = stream.watch if isinstance(stream, Watching) else None
        if watch is not None:
            self.watches.open[watch] = name

        def close() -> None:
            watches.dec()
            if watch is not None:
                self.watches.ended(watch)

        return close

    async def text(self) -> bytes:
        """Return the exposition: the many numbers are copied here, and written by another thread."""
        ready: list[Metric] = []
        pacer = Pacer()
        for collector in tuple(self.registry.parts):
            ready += collector.collect()
            await pacer.pause()
        parts: list[Collects] = [self.requests.taken(), self.watches.taken()]
        parts.append(Logins(self.attempts, self.decisions).taken())
        if self._credentials is not None:
            parts.append(Credentials(*self._credentials()))
        if self._extensions is not None:
            from hydrofoil.server.extension_metrics import ExtensionMetrics

            aggregations, available, outages = self._extensions
            parts.append(ExtensionMetrics(aggregations(), available(), outages()))
        if self._store is not None:
            parts.append(StoreMetrics.taken(self._store))
        known = self._build is not None and not self._build.forgotten
        return await asyncio.to_thread(exposition, ready, parts, counted=known)


class Collectors(CollectorRegistry):
    """A registry whose collectors are asked one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[Collector] = []

    def register(self, collector: Collector) -> None:
        """Add a collector. Raise ValueError if its names are taken."""
        super().register(collector)
        self.parts.append(collector)


class Exposed(NamedTuple):
    """Families in the place of a registry."""

    families: Iterable[Metric]

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        yield from self.families


def exposition(ready: Iterable[Metric], parts: Iterable[Collects], *, counted: bool = False) -> bytes:
    """Return families, and those of parts, as text; `counted`: with the numbers of families."""
    families = [family for group in (ready, *(part.collect() for part in parts)) for family in group]
    if counted:
        families.append(families_by_stability(families))
    text = generate_latest(Exposed(families))
    # Some of upstream's counters have another suffix, or none.
    text = re.sub(
        rb"(?m)^(# (?:HELP|TYPE) (?:authentication_attempts|authenticated_user_requests))_total ", rb"\1 ", text
    )
    # Integers are written without a fraction, as in Go.
    text = re.sub(rb"(?m)\.0$", b"", text).replace(b"_count_total", b"_count")
    return text.replace(b"discovery_aggregation_count", b"discovery_aggregation_count_total")


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
