"""Metrics of answered requests (apiserver `pkg/endpoints/metrics`): plain numbers until someone looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.counting import Histogram

PREFIX = "apiserver_"
LABELS = ("verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component")
WITHOUT_DRY = (LABELS[0], *LABELS[2:])
BUCKETS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60)
OBJECTIVE = BUCKETS[2:]
SIZES = tuple(10.0**n for n in range(3, 10))
READS = frozenset(("GET", "LIST"))
BODIES = tuple(50_000 + 100_000.0 * n for n in range(31))
VALIDATIONS = {"Ignore": "Ignore", "Warn": "Warn", "Strict": "Strict", "": ""}
EXCEPT = "(not counting webhook duration and priority & fairness queue wait times)"
EACH = "for each verb, group, version, resource, subresource, scope and component."


class Row:
    """The requests of one kind."""

    __slots__ = ("codes", "seconds", "sizes")

    def __init__(self) -> None:
        self.codes: dict[int, int] = {}
        self.seconds = Histogram(BUCKETS)
        self.sizes = Histogram(SIZES)

    def count(self, code: int, times: int = 1) -> None:
        """Count answers."""
        self.codes[code] = self.codes.get(code, 0) + times

    def copy(self) -> Row:
        """Return the present state."""
        found = Row()
        found.codes, found.seconds, found.sizes = self.codes.copy(), self.seconds.copy(), self.sizes.copy()
        return found


class Requests:
    """The counts of one server."""

    def __init__(self, *, hidden: bool = False) -> None:
        """`hidden`: show deprecated names too."""
        self.hidden = hidden
        self._rows: dict[tuple[str, ...], Row] = {}
        self._validations: set[str] = set()
        self._bodies: dict[tuple[str, ...], Histogram] = {}
        self._terminated: Counter[tuple[str, ...]] = Counter()

    def reset(self) -> None:
        """Forget all counts."""
        self._rows.clear()
        self._validations.clear()
        self._bodies.clear()
        self._terminated.clear()

    def count(self, labels: tuple[str, ...], code: int) -> Row:
        """Count an answer and return the row of its kind; `labels` are those of LABELS."""
        row = self.row(labels)
        row.count(code)
        return row

    def row(self, labels: tuple[str, ...]) -> Row:
        """Return the row of a kind of requests, until all counts are forgotten."""
        row = self._rows.get(labels)
        if row is None:
            row = self._rows[labels] = Row()
        return row

    def rows(self) -> dict[tuple[str, ...], Row]:
        """Return the counts by labels, which are those of LABELS."""
        return self._rows

    def observe(self, labels: tuple[str, ...], code: int, seconds: float, size: int) -> None:
        """Count an answer with its duration, and its size in bytes."""
        row = self.count(labels, code)
        row.seconds.observe(seconds)
        if labels[0] in READS:
            row.sizes.observe(size)

    def read(self, group: str, resource: str, verb: str, size: int) -> None:
        """Count the body of a request, in bytes (`RecordRequestBodySize`)."""
        labels = (group, resource, verb)
        found = self._bodies.get(labels)
        if found is None:
            found = self._bodies[labels] = Histogram(BODIES)
        found.observe(size)

    def terminate(self, labels: tuple[str, ...], code: int) -> None:
        """Count a request that the server ended to protect itself; `labels` are those of LABELS."""
        self._terminated[(labels[0], *labels[2:], str(code))] += 1

    def validated(self, level: str) -> None:
        """Record a `fieldValidation` that was used (`cleanFieldValidation`)."""
        self._validations.add(VALIDATIONS.get(level, "invalid"))

    def taken(self) -> Requests:
        """Return the present state, for another thread."""
        found = Requests(hidden=self.hidden)
        found._rows = {labels: row.copy() for labels, row in self._rows.items()}
        found._validations = self._validations.copy()
        found._bodies = {labels: row.copy() for labels, row in self._bodies.items()}
        found._terminated = self._terminated.copy()
        return found

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        text = (
            "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, "
            "scope, component, and HTTP response code."
        )
        total = CounterMetricFamily(PREFIX + "request", text, labels=(*LABELS, "code"))
        text = (
            "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, "
            "resource, subresource, scope and component."
        )
        seconds = HistogramMetricFamily(PREFIX + "request_duration_seconds", text, labels=LABELS)
        sizes: dict[tuple[str, ...], Histogram] = {}
        # The waits for webhooks and seats are short beside these buckets, where there are any at all.
        objective: dict[tuple[str, ...], Histogram] = {}
        for labels, row in self._rows.items():
            for code, count in row.codes.items():
                total.add_metric((*labels, str(code)), count)
            if not any(row.seconds.counts):
                continue
            seconds.add_metric(labels, row.seconds.cumulative(), row.seconds.sum)
            merged = (labels[0], *labels[2:])
            if not labels[1]:
                objective.setdefault(merged, Histogram(OBJECTIVE)).add(row.seconds)
            if labels[0] in READS:
                sizes.setdefault(merged, Histogram(SIZES)).add(row.sizes)
        yield total
        yield seconds
        text = f"Response latency distribution {EXCEPT} in seconds {EACH}"
        yield distribution(PREFIX + "request_sli_duration_seconds", f"[ALPHA] {text}", WITHOUT_DRY, objective)
        if self.hidden:
            text = f"[ALPHA] (Deprecated since 1.27.0) {text}"
            yield distribution(PREFIX + "request_slo_duration_seconds", text, WITHOUT_DRY, objective)
        text = f"[STABLE] Response size distribution in bytes {EACH}"
        yield distribution(PREFIX + "response_sizes", text, WITHOUT_DRY, sizes)
        text = "[ALPHA] Apiserver request body size in bytes broken out by resource and verb."
        yield distribution(PREFIX + "request_body_size_bytes", text, ("group", "resource", "verb"), self._bodies)
        text = "[ALPHA] Number of requests which apiserver terminated in self-defense."
        ended = CounterMetricFamily(PREFIX + "request_terminations", text, labels=(*WITHOUT_DRY, "code"))
        for labels, count in self._terminated.items():
            ended.add_metric(labels, count)
        yield ended
        text = "[ALPHA] Response latency distribution in seconds for each field validation value"
        # Upstream counts no request here, either: it asks for the series and observes nothing.
        empty: dict[tuple[str, ...], Histogram] = {
            (level,): Histogram(OBJECTIVE) for level in sorted(self._validations)
        }
        yield distribution("field_validation_request_duration_seconds", text, ("field_validation",), empty)


def distribution(
    name: str, text: str, labels: tuple[str, ...], rows: dict[tuple[str, ...], Histogram]
) -> HistogramMetricFamily:
    """Return a family of histograms."""
    family = HistogramMetricFamily(name, text, labels=labels)
    for values, row in rows.items():
        family.add_metric(values, row.cumulative(), row.sum)
    return family


InKinds = tuple[Callable[[], int], Callable[[], int]]
"""The numbers of requests that read, and that write."""


class InFlightMetrics(Collector):
    """The numbers of requests in flight, and of those in queues."""

    def __init__(self, running: InKinds, queued: InKinds) -> None:
        self._running = running
        self._queued = queued

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        for name, text, counts in (
            (
                "inflight",
                "[STABLE] Maximal number of currently used inflight request limit of this apiserver",
                self._running,
            ),
            ("inqueue", "[ALPHA] Maximal number of queued requests in this apiserver", self._queued),
        ):
            family = GaugeMetricFamily(
                f"apiserver_current_{name}_requests",
                f"{text} per request kind in last second.",
                labels=("request_kind",),
            )
            for kind, count in zip(("readOnly", "mutating"), counts, strict=True):
                family.add_metric((kind,), count())
            yield family
