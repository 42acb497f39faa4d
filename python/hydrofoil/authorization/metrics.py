"""Metrics of authorizers, under upstream's names (apiserver `pkg/authorization`, `plugin/pkg/authorizer/webhook`)."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client import Counter as Count
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.request import Authorizer, RequestInfo, StandingVerdict, User, Verdict

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_BRIEF = (0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25)
_PREFIX = "apiserver_authorization_"


class Tally:
    """The final decisions of authorizers of one name and type, whichever configuration they are from."""

    __slots__ = ("allowed", "denied")

    def __init__(self) -> None:
        self.allowed = self.denied = 0

    def allow(self, times: int) -> None:
        """Count requests that were allowed."""
        self.allowed += times


class Metrics(Collector):
    """The counts of one server, made when they are first needed."""

    def __init__(self) -> None:
        self.tallies: dict[tuple[str, str], Tally] = {}
        """Final decisions by name and type of their authorizer."""
        self._registry = CollectorRegistry()
        evaluated = ("name", "type")
        asked = ("name", "result")
        self._seconds = self._histogram(
            "match_condition_evaluation_seconds",
            "Authorization match condition evaluation time in seconds, split by authorizer type and name.",
            evaluated,
            _BRIEF,
        )
        self._exclusions = self._counter(
            "match_condition_exclusions",
            "Total number of exclusions when an authorization webhook is skipped because match conditions exclude it.",
            evaluated,
        )
        self._failures = self._counter(
            "match_condition_evaluation_errors",
            "Total number of errors when an authorization webhook encounters a match condition error split by"
            " authorizer type and name.",
            evaluated,
        )
        self._evaluations = self._counter("webhook_evaluations", "Round-trips to authorization webhooks.", asked)
        self._duration = self._histogram("webhook_duration_seconds", "Request latency in seconds.", asked, _BUCKETS)
        self._open = self._counter(
            "webhook_evaluations_fail_open", "NoOpinion results due to webhook timeout or error.", asked
        )

    def _counter(self, name: str, text: str, labels: tuple[str, ...]) -> Count:
        return Count(_PREFIX + name, f"[ALPHA] {text}", labels, registry=self._registry)

    def _histogram(self, name: str, text: str, labels: tuple[str, ...], buckets: tuple[float, ...]) -> Histogram:
        return Histogram(_PREFIX + name, f"[ALPHA] {text}", labels, buckets=buckets, registry=self._registry)

    def matched(self, name: str, seconds: float, *, excluded: bool, failed: bool) -> None:
        """Record an evaluation of the conditions of a webhook."""
        self._seconds.labels(name, "Webhook").observe(seconds)
        if excluded:
            self._exclusions.labels(name, "Webhook").inc()
        if failed:
            self._failures.labels(name, "Webhook").inc()

    def asked(self, name: str, result: str, seconds: float) -> None:
        """Record a call of a webhook: success, error, timeout or canceled."""
        self._evaluations.labels(name, result).inc()
        self._duration.labels(name, result).observe(seconds)

    def failed_open(self, name: str, result: str) -> None:
        """Record a failed call that left the decision to the next authorizer."""
        self._open.labels(name, result).inc()

    def collect(self) -> Iterable[Metric]:
        """Yield the families that have samples."""
        if any(tally.allowed or tally.denied for tally in self.tallies.values()):
            family = CounterMetricFamily(
                _PREFIX + "decisions",
                "[ALPHA] Total number of terminal decisions made by an authorizer split by authorizer type, name, and"
                " decision.",
                labels=("decision", "name", "type"),
            )
            for labels, tally in self.tallies.items():
                for decision, count in (("allowed", tally.allowed), ("denied", tally.denied)):
                    if count:
                        family.add_metric((decision, *labels), count)
            yield family
        for metric in self._registry.collect():
            if metric.samples:
                yield metric

    def describe(self) -> Iterable[Metric]:
        """Yield nothing: the names are not checked against others."""
        return ()


class Counted:
    """An authorizer whose final decisions are counted (`InstrumentedAuthorizer`)."""

    __slots__ = ("_authorize", "_standing", "_tally", "rules")

    def __init__(self, authorizer: Authorizer, kind: str, name: str, metrics: Metrics) -> None:
        self._authorize = authorizer.authorize
        self._standing = authorizer.standing
        self.rules = authorizer.rules
        self._tally = metrics.tallies.setdefault((name, kind), Tally())

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        """Return the decision of the authorizer."""
        verdict = self._authorize(user, info)
        return self._count(verdict) if isinstance(verdict, Verdict) else self._waiting(verdict)

    def standing(self, user: User, info: RequestInfo) -> StandingVerdict | None:
        """Return that of the authorizer, with its count."""
        found = self._standing(user, info)
        if found is None or not found.allowed:
            return found
        return StandingVerdict(allowed=True, counts=(*found.counts, self._tally.allow))

    async def _waiting(self, waits: Awaitable[Verdict]) -> Verdict:
        return self._count(await waits)

    def _count(self, verdict: Verdict) -> Verdict:
        if verdict.allowed:
            self._tally.allowed += 1
        elif verdict.denied:
            self._tally.denied += 1
        return verdict
