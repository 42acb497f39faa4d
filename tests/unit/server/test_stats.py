"""Rates of writes."""

from __future__ import annotations

from hydrofoil.server.request_metrics import Row
from hydrofoil.server.stats import SAMPLES, WriteRates, row_figures

PODS = ("", "pods")


def test_rates_are_those_of_the_last_seconds() -> None:
    rates = WriteRates(0.0, {PODS: 100})
    assert rates.rate(2.0, PODS, 120) == 10
    for second in range(1, SAMPLES + 1):
        rates.add(float(second), {PODS: 100 + 50 * second})
    assert rates.rate(SAMPLES + 1.0, PODS, 100 + 50 * (SAMPLES + 1)) == 50
    assert rates.rate(SAMPLES + 1.0, ("", "nodes"), 0) == 0


def test_two_looks_at_once_have_a_rate() -> None:
    assert WriteRates(1.0, {}).rate(1.0, PODS, 0) == 0


def test_a_row_without_durations_has_figures() -> None:
    row = Row()
    row.count(200)
    row.count(404, 2)
    found = row_figures(("GET", "", "", "v1", "pods", "", "resource", "apiserver"), row)
    assert (found["requests"], found["errors"], found["p99"]) == (3, 2, 0.0)
    row.seconds.observe(0.004)
    assert 0 < row_figures(("GET", "", "", "v1", "pods", "", "resource", "apiserver"), row)["p50"] <= 0.005
