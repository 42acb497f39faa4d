"""Metrics of credentials, logins and decisions (apiserver `pkg/endpoints/filters/metrics.go`, `filterlatency`)."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.authentication.accounts.tokens import Counts as TokenCounts
from hydrofoil.authentication.cache import BUCKETS, Fetches
from hydrofoil.counting import Histogram
from hydrofoil.endpoints.filters.authentication import Attempts
from hydrofoil.endpoints.filters.authorization import Decisions

TOKENS = "authentication_token_cache_"
DOUBLED = tuple(0.001 * 2**n for n in range(15))
FILTER = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0, 10.0, 15.0, 30.0)


def merge_histograms(buckets: tuple[float, ...], parts: Iterable[Histogram]) -> Histogram:
    """Return the sum of histograms, in coarser buckets."""
    found = Histogram(buckets)
    for part in parts:
        found.add(part)
    return found


class Logins:
    """The counts of one server."""

    def __init__(self, attempts: Attempts, decisions: Decisions) -> None:
        self._attempts = attempts
        self._decisions = decisions

    def taken(self) -> Logins:
        """Return the present state, for another thread."""
        return Logins(self._attempts.copy(), self._decisions.copy())

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        logins = {"success": self._attempts.success, "failure": self._attempts.failure}
        yield from self._results("authentication_attempts", "Counter of authenticated attempts.", logins)
        text = "Authentication duration in seconds broken out by result."
        yield self._durations("authentication_duration_seconds", text, logins)
        text = "[ALPHA] Counter of authenticated requests broken out by username."
        users = GaugeMetricFamily("authenticated_user_requests", text, labels=("username",))
        users.type = "counter"
        for name, count in sorted(self._attempts.users.items()):
            users.add_metric((name,), count)
        yield users
        decisions = dict(self._decisions.seconds)
        if self._decisions.waived:
            waived = Histogram(decisions["allowed"].buckets)
            waived.observe(0.0, self._decisions.waived)
            decisions["allowed"] = merge_histograms(tuple(waived.buckets), (decisions["allowed"], waived))
        text = (
            "Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', "
            "'no-opinion' or 'error'."
        )
        yield from self._results("authorization_attempts_total", text, decisions)
        text = "Authorization duration in seconds broken out by result."
        yield self._durations("authorization_duration_seconds", text, decisions)
        text = "[ALPHA] Request filter latency distribution in seconds, for each filter type"
        filters = HistogramMetricFamily("apiserver_request_filter_duration_seconds", text, labels=("filter",))
        for name, parts in (("authentication", logins), ("authorization", decisions)):
            found = merge_histograms(FILTER, parts.values())
            filters.add_metric((name,), found.cumulative(), found.sum)
        yield filters

    @staticmethod
    def _results(name: str, text: str, by: dict[str, Histogram]) -> Iterable[Metric]:
        if name.endswith("_total"):
            family: Metric = CounterMetricFamily(name.removesuffix("_total"), f"[ALPHA] {text}", labels=("result",))
        else:
            family = GaugeMetricFamily(name, f"[ALPHA] {text}", labels=("result",))
            family.type = "counter"
        assert isinstance(family, CounterMetricFamily | GaugeMetricFamily)
        for result, found in by.items():
            if count := sum(found.counts):
                family.add_metric((result,), count)
        yield family

    @staticmethod
    def _durations(name: str, text: str, by: dict[str, Histogram]) -> HistogramMetricFamily:
        family = HistogramMetricFamily(name, f"[ALPHA] {text}", labels=("result",))
        for result, fine in by.items():
            if any(fine.counts):
                found = merge_histograms(DOUBLED, (fine,))
                family.add_metric((result,), found.cumulative(), found.sum)
        return family


class Credentials:
    """The use of kept logins (`token/cache/stats.go`) and of client certificates (`request/x509`), at one time."""

    def __init__(self, fetches: Fetches, lives: Histogram) -> None:
        """Take the rest of the lives of certificates in seconds."""
        self._fetches = fetches
        self._lives = lives

    def collect(self) -> Iterable[Metric]:
        """Yield the families."""
        counts, status = self._fetches, ("status",)
        # Upstream describes none of them.
        active = GaugeMetricFamily(f"{TOKENS}active_fetch_count", "[ALPHA] ", labels=status)
        active.add_metric(("blocked",), counts.blocked)
        active.add_metric(("in_flight",), counts.under_way)
        fetched = CounterMetricFamily(f"{TOKENS}fetch", "[ALPHA] ", labels=status)
        requests = CounterMetricFamily(f"{TOKENS}request", "[ALPHA] ", labels=status)
        seconds = HistogramMetricFamily(f"{TOKENS}request_duration_seconds", "[ALPHA] ", labels=status)
        found = Histogram(BUCKETS)
        # A look at a dict: upstream, too, counts whole milliseconds.
        found.observe(0.0, counts.hits)
        for result, count in (("error", counts.failed), ("ok", counts.found)):
            if count:
                fetched.add_metric((result,), count)
        for result, spread in (("hit", found), ("miss", counts.missed)):
            if count := sum(spread.counts):
                requests.add_metric((result,), count)
                seconds.add_metric((result,), spread.cumulative(), spread.sum)
        yield from (active, fetched, requests, seconds)
        text = "[ALPHA] Distribution of the remaining lifetime on the certificate used to authenticate a request."
        lives = HistogramMetricFamily("apiserver_client_certificate_expiration_seconds", text)
        lives.add_metric((), self._lives.cumulative(), self._lives.sum)
        yield lives


class TokenUses(Collector):
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
