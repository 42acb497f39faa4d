"""Metrics of auditing, under upstream's names (apiserver `pkg/audit/metrics.go`)."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from hydrofoil.audit.level import LEVELS

PREFIX = "apiserver_audit_"


class Counts(Collector):
    """Numbers of events, of their losses, and of refused requests; plain integers, since each request counts."""

    def __init__(self) -> None:
        self.events = 0
        """Events handed to the log or the webhook."""
        self.rejected = 0
        """Requests refused because their event could not be stored."""
        self.levels = [0] * len(LEVELS)
        """Requests by level."""
        self.lost: dict[str, int] = {}
        """Lost events by the plug-in that lost them: log, webhook, buffered, truncate."""

    def lose(self, plugin: str, count: int) -> None:
        """Count lost events."""
        self.lost[plugin] = self.lost.get(plugin, 0) + count

    def collect(self) -> Iterable[Metric]:
        """Return the families."""
        text = "[ALPHA] Counter of audit events generated and sent to the audit backend."
        yield CounterMetricFamily(PREFIX + "event", text, self.events)
        text = "[ALPHA] Counter of apiserver requests rejected due to an error in audit logging backend."
        yield CounterMetricFamily(PREFIX + "requests_rejected", text, self.rejected)
        text = "[ALPHA] Counter of policy levels for audit events (1 per request)."
        levels = CounterMetricFamily(PREFIX + "level", text, labels=("level",))
        for name, count in zip(LEVELS, self.levels, strict=True):
            if count:
                levels.add_metric((name,), count)
        yield levels
        text = "[ALPHA] Counter of audit events that failed to be audited properly. Plugin identifies the plugin "
        lost = CounterMetricFamily(PREFIX + "error", text + "affected by the error.", labels=("plugin",))
        for plugin, count in self.lost.items():
            lost.add_metric((plugin,), count)
        yield lost
