"""Metrics of a configuration file that is read again (apiserver `pkg/server/options/authorizationconfig/metrics`)."""

from __future__ import annotations

import hashlib
import socket
from collections import Counter
from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.clock import Clock


def hash_text(data: bytes) -> str:
    """Return a hash as upstream shows it; empty for nothing."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}" if data else ""


class Reloads(Collector):
    """The reloads of one file: `what` is `authentication`, `authorization` or `encryption`."""

    def __init__(self, what: str, clock: Clock, stage: str = "BETA") -> None:
        self._what = what
        self._stage = stage
        self._clock = clock
        self._server = hash_text(f"apiserver-{socket.gethostname()}".encode())
        self._hash = ""
        self._counts: Counter[str] = Counter()
        self._times: dict[str, float] = {}

    def loaded(self, data: bytes) -> None:
        """Record the content at the start."""
        self._hash = hash_text(data)

    def succeeded(self, data: bytes) -> None:
        """Record new content in force."""
        self._hash = hash_text(data)
        self._count("success")

    def failed(self) -> None:
        """Record content that could not be used."""
        self._count("failure")

    def _count(self, status: str) -> None:
        self._counts[status] += 1
        self._times[status] = self._clock.seconds()

    def collect(self) -> Iterable[Metric]:
        """Yield the families that have samples."""
        prefix = f"apiserver_{self._what}_config_controller_"
        if self._counts:
            labels = ("apiserver_id_hash", "status")
            text = (
                f"[{self._stage}] Total number of automatic reloads of {self._what} configuration split by status and"
            )
            total = CounterMetricFamily(f"{prefix}automatic_reloads", f"{text} apiserver identity.", labels=labels)
            text = (
                f"[{self._stage}] Timestamp of the last automatic reload of {self._what} configuration split by status"
            )
            last = GaugeMetricFamily(
                f"{prefix}automatic_reload_last_timestamp_seconds", f"{text} and apiserver identity.", labels=labels
            )
            for status, count in self._counts.items():
                total.add_metric((self._server, status), count)
                last.add_metric((self._server, status), self._times[status])
            yield total
            yield last
        if self._hash:
            text = f"[ALPHA] Information about the last applied {self._what} configuration with hash as label, split by"
            info = GaugeMetricFamily(
                f"{prefix}last_config_info", f"{text} apiserver identity.", labels=("apiserver_id_hash", "hash")
            )
            info.add_metric((self._server, self._hash), 1)
            yield info

    def describe(self) -> Iterable[Metric]:
        """Yield nothing: the names are not checked against others."""
        return ()
