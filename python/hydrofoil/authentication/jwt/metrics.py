"""Metrics of JWT issuers (apiserver `plugin/pkg/authenticator/token/oidc/metrics.go`)."""

from __future__ import annotations

import socket
from collections.abc import Iterable

from prometheus_client import Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.clock import Clock
from hydrofoil.reloads import hash_text

PREFIX = "apiserver_authentication_jwt_authenticator_"
BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class JwtMetrics(Collector):
    """How long tokens took, and when the keys of each issuer were fetched. Issuers show as hashes of their URLs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._server = hash_text(f"apiserver-{socket.gethostname()}".encode())
        self._latency = Histogram(
            f"{PREFIX}latency_seconds",
            "[ALPHA] Latency of jwt authentication operations in seconds. This is the time spent authenticating a "
            "token for cache miss only (i.e. when the token is not found in the cache).",
            ("result", "jwt_issuer_hash"),
            buckets=BUCKETS,
            registry=None,
        )
        self._fetched: dict[tuple[str, str], float] = {}
        self._keys: dict[str, str] = {}

    def took(self, issuer: str, seconds: float, *, good: bool) -> None:
        """Record a token of an issuer."""
        self._latency.labels("success" if good else "failure", hash_text(issuer.encode())).observe(seconds)

    def fetched(self, issuer: str, data: bytes | None) -> None:
        """Record the key set of an issuer; None for a failure."""
        name = hash_text(issuer.encode())
        self._fetched[name, "failure" if data is None else "success"] = self._clock.seconds()
        if data is not None:
            self._keys[name] = hash_text(data)

    def keep(self, issuers: Iterable[str]) -> None:
        """Forget all other issuers."""
        names = {hash_text(issuer.encode()) for issuer in issuers}
        self._fetched = {key: moment for key, moment in self._fetched.items() if key[0] in names}
        self._keys = {name: found for name, found in self._keys.items() if name in names}

    def collect(self) -> Iterable[Metric]:
        """Yield the families that have samples."""
        yield from (metric for metric in self._latency.collect() if metric.samples)
        if self._fetched:
            last = GaugeMetricFamily(
                f"{PREFIX}jwks_fetch_last_timestamp_seconds",
                "[ALPHA] Timestamp of the last successful or failed JWKS fetch split by result, api server identity "
                "and jwt issuer for the JWT authenticator.",
                labels=("apiserver_id_hash", "jwt_issuer_hash", "result"),
            )
            for (name, result), moment in self._fetched.items():
                last.add_metric((self._server, name, result), moment)
            yield last
        if self._keys:
            info = GaugeMetricFamily(
                f"{PREFIX}jwks_fetch_last_key_set_info",
                "[ALPHA] Information about the last JWKS fetched by the JWT authenticator with hash as label, split "
                "by api server identity and jwt issuer.",
                labels=("apiserver_id_hash", "hash", "jwt_issuer_hash"),
            )
            for name, found in self._keys.items():
                info.add_metric((self._server, found, name), 1)
            yield info

    def describe(self) -> Iterable[Metric]:
        """Yield nothing: the names are not checked against others."""
        return ()
