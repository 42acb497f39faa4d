"""The demand for seats."""

from __future__ import annotations

import pytest

from hydrofoil.fairness import demand
from hydrofoil.fairness.demand import SMOOTHING, Demand


def test_demand_is_measured_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(demand, "stopwatch", lambda: now)
    found = Demand()
    found.set(4)
    now = 5.0
    found.set(0)
    now = 10.0
    found.look(8)
    assert (found.high, found.average, found.deviation, found.smoothed) == (4, 2.0, 2.0, 4.0)
    now = 20.0
    found.look(8)
    assert (found.high, found.average) == (0, 0.0)
    assert found.smoothed == pytest.approx(SMOOTHING * 4.0)


def test_the_time_of_each_ratio_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """In nanoseconds; the seats are those of the time."""
    now = 0.0
    monkeypatch.setattr(demand, "stopwatch", lambda: now)
    found = Demand()
    found.set(4)
    now = 3.0
    found.look(8)
    now = 5.0
    found.set(0)
    ratios = dict(found.ratios(4).cumulative())
    assert (ratios["0.4"], ratios["0.6"], ratios["1"], ratios["+Inf"]) == (0.0, 3e9, 5e9, 5e9)
    assert found.ratios(4).sum == pytest.approx(0.5 * 3e9 + 1.0 * 2e9)
    assert found.ratios(0).counts[-1] == 0
