"""Metrics of policies, under upstream's names (apiserver `plugin/policy/{validating,mutating}/metrics`)."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

_BUCKETS = (0.0000005, 0.001, 0.01, 0.1, 1.0)


class Metrics(Collector):
    """The counts of the policies of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        validating = ("policy", "policy_binding", "error_type", "enforcement_action")
        self._checks, self._seconds = self._pair(
            "validating",
            "[BETA] Validation admission policy check total, labeled by policy and further identified by binding and "
            "enforcement action taken.",
            "[BETA] Validation admission latency for individual validation expressions in seconds, labeled by policy "
            "and further including binding and enforcement action taken.",
            validating,
        )
        self._mutations, self._mutated = self._pair(
            "mutating",
            "[ALPHA] Mutation admission policy check total, labeled by policy and further identified by binding.",
            "[ALPHA] Mutation admission latency for individual mutation expressions in seconds, labeled by policy and "
            "binding.",
            validating[:3],
        )

    def _pair(self, kind: str, total: str, seconds: str, labels: tuple[str, ...]) -> tuple[Counter, Histogram]:
        prefix = f"apiserver_{kind}_admission_policy_check"
        counter = Counter(prefix, total, labels, registry=self._registry)
        return counter, Histogram(
            f"{prefix}_duration_seconds", seconds, labels, buckets=_BUCKETS, registry=self._registry
        )

    def checked(self, policy: str, binding: str, action: str, error: str, seconds: float) -> None:
        """Count a refusal, and the action that a binding requires for it."""
        self._checks.labels(policy, binding, error, action).inc()
        self._seconds.labels(policy, binding, error, action).observe(seconds)

    def mutated(self, policy: str, binding: str, error: str, seconds: float) -> None:
        """Count a mutation."""
        self._mutations.labels(policy, binding, error).inc()
        self._mutated.labels(policy, binding, error).observe(seconds)

    def collect(self) -> Iterable[Metric]:
        """Return those that have counted something."""
        return [metric for metric in self._registry.collect() if metric.samples]
