"""Metrics of webhooks, under upstream's names (apiserver `pkg/admission/metrics/metrics.go`)."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

_PREFIX = "apiserver_admission_"
_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25)
_BRIEF = (0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25)


class Metrics(Collector):
    """The counts of the webhooks of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        of = ("name", "type", "operation")
        self._seconds = Histogram(
            f"{_PREFIX}webhook_admission_duration_seconds",
            "[STABLE] Admission webhook latency histogram in seconds, identified by name and broken out for each "
            "operation and API resource and type (validate or admit).",
            ("name", "type", "operation", "rejected"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._requests = self._counter(
            "webhook_request",
            "Admission webhook request total, identified by name and broken out for each admission type (validating or "
            "mutating) and operation. Additional labels specify whether the request was rejected or not and an HTTP "
            "status code. Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
            (*of, "code", "rejected"),
        )
        self._rejections = self._counter(
            "webhook_rejection_count",
            "Admission webhook rejection count, identified by name and broken out for each admission type (validating "
            "or admit) and operation. Additional labels specify an error type (calling_webhook_error or "
            "apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection "
            "code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code "
            "is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality "
            "bounded.",
            (*of, "error_type", "rejection_code"),
        )
        self._open = self._counter(
            "webhook_fail_open_count",
            "Admission webhook fail open count, identified by name and broken out for each admission type (validating "
            "or admit).",
            ("name", "type"),
        )
        conditions = ("name", "kind", "type", "operation")
        self._excluded = self._counter(
            "match_condition_exclusions_total",
            "Admission match condition evaluation exclusions count, identified by name of resource containing the "
            "match condition and broken out for each kind containing matchConditions (webhook or policy), operation "
            "and admission type (validate or admit).",
            conditions,
        )
        self._failures = self._counter(
            "match_condition_evaluation_errors_total",
            "Admission match condition evaluation errors count, identified by name of resource containing the match "
            "condition and broken out for each kind containing matchConditions (webhook or policy), operation and "
            "admission type (validate or admit).",
            conditions,
        )
        self._evaluated = Histogram(
            f"{_PREFIX}match_condition_evaluation_seconds",
            "[ALPHA] Admission match condition evaluation time in seconds, identified by name and broken out for each "
            "kind containing matchConditions (webhook or policy), operation and type (validate or admit).",
            conditions,
            buckets=_BRIEF,
            registry=self._registry,
        )

    def _counter(self, name: str, text: str, labels: tuple[str, ...]) -> Counter:
        return Counter(_PREFIX + name, f"[ALPHA] {text}", labels, registry=self._registry)

    def called(self, name: str, kind: str, operation: str, seconds: float, *, rejected: bool, code: int) -> None:
        """Count a call."""
        shown = "true" if rejected else "false"
        self._seconds.labels(name, kind, operation, shown).observe(seconds)
        self._requests.labels(name, kind, operation, str(min(code, 600)), shown).inc()

    def rejected(self, name: str, kind: str, operation: str, error: str, code: int) -> None:
        """Count a refusal."""
        self._rejections.labels(name, kind, operation, error, str(min(code, 600))).inc()

    def failed_open(self, name: str, kind: str) -> None:
        """Count a failed call that was ignored."""
        self._open.labels(name, kind).inc()

    def matched(self, name: str, kind: str, operation: str, seconds: float, *, failed: int) -> None:
        """Record an evaluation of match conditions."""
        self._evaluated.labels(name, "webhook", kind, operation).observe(seconds)
        if failed:
            self._failures.labels(name, "webhook", kind, operation).inc(failed)

    def excluded(self, name: str, kind: str, operation: str) -> None:
        """Count a request that match conditions excluded."""
        self._excluded.labels(name, "webhook", kind, operation).inc()

    def collect(self) -> Iterable[Metric]:
        """Return those that have counted something."""
        return [metric for metric in self._registry.collect() if metric.samples]
