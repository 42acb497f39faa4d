"""`/metrics`, under upstream's names."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from hydrofoil.clock import stopwatch
from hydrofoil.endpoints.filters.authentication import Attempts
from hydrofoil.endpoints.filters.authorization import Decisions
from hydrofoil.endpoints.memos import AnswerCounts
from hydrofoil.endpoints.negotiate import PATCHES
from hydrofoil.endpoints.watching import Watching
from hydrofoil.headers import CONTENT_TYPE, USER_AGENT
from hydrofoil.pace.pacer import Pacer
from hydrofoil.server.build_metrics import BuildMetrics, families_by_stability
from hydrofoil.server.login_metrics import Logins
from hydrofoil.server.queue_metrics import QueueMetrics
from hydrofoil.server.request_metrics import Requests
from hydrofoil.server.watch_metrics import Watched, Watches, WatchRequest

if TYPE_CHECKING:
    from hydrofoil.answer import Stream
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.endpoints.context import Context
    from hydrofoil.request import RequestInfo


class Collects(Protocol):
    """Numbers of one time."""

    def collect(self) -> Iterable[Metric]:
        """Yield their families."""


Snapshot = Callable[[], Collects]
"""Return the numbers of this moment, for another thread."""
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
    """Counts of requests and watches, and what the parts of a server count."""

    def __init__(self, build: BuildMetrics | None = None, *, hidden: bool = False) -> None:
        """`hidden`: show what upstream has hidden, too (DEP-29)."""
        self.registry = Collectors()
        self.requests = Requests(hidden=hidden)
        self.watches = Watches()
        self._snapshots: list[Snapshot] = []
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
        self._build = build
        if build is not None:
            self.registry.register(build)
        ProcessCollector(registry=self.registry)

    def reset(self) -> None:
        """Reset all counts."""
        self.requests.reset()
        self.watches.reset()
        self.deprecated.clear()
        self.queues.forget()
        if self._build is not None:
            self._build.forgotten = True

    def show(self, collectors: Iterable[Collector], snapshots: Iterable[Snapshot] = ()) -> None:
        """Expose the metrics of a part; `snapshots` are taken at each look."""
        for collector in collectors:
            self.registry.register(collector)
        self._snapshots += snapshots

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

    def counts(self, context: Context) -> AnswerCounts:
        """Return what counts requests like one that was answered, until the metrics are reset."""
        assert context.served is not None, "only requests for resources are counted so"
        found = self.requests.row(_labels(context, context.verb, context.served))
        return AnswerCounts(partial(found.count, 200), found.seconds, found.sizes)

    def watching(self, context: Context, stream: Stream) -> Callable[[], None]:
        """Count a watch until the returned function is called."""
        resource = context.resource
        watches: Gauge = self.long_running.labels("WATCH", *_where("watch", resource, context.info))
        watches.inc()
        scope = "resource" if context.info.name else "namespace" if context.info.namespace else "cluster"
        watched = Watched(resource.group, resource.version, resource.plural, scope)
        watch = stream.watch if isinstance(stream, Watching) else None
        if watch is not None:
            info, agent = context.info, context.headers.get(USER_AGENT, "")
            self.watches.open[watch] = WatchRequest(
                watched, info.namespace, info.name, context.user.name, agent, stopwatch()
            )

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
        parts += [snapshot() for snapshot in self._snapshots]
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
