"""Metrics of auditing."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from hydrofoil.audit.metrics import Counts


def test_the_names_are_upstreams() -> None:
    counts = Counts()
    registry = CollectorRegistry()
    registry.register(counts)
    text = generate_latest(registry).decode()
    assert "apiserver_audit_event_total 0.0\n" in text and "apiserver_audit_requests_rejected_total 0.0\n" in text
    assert "level=" not in text and "plugin=" not in text
    counts.levels[1] += 2
    counts.lose("log", 3)
    counts.lose("log", 1)
    text = generate_latest(registry).decode()
    assert 'apiserver_audit_level_total{level="Metadata"} 2.0' in text
    assert 'apiserver_audit_error_total{plugin="log"} 4.0' in text
