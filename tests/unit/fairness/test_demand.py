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
    found.look()
    assert (found.high, found.average, found.deviation, found.smoothed) == (4, 2.0, 2.0, 4.0)
    now = 20.0
    found.look()
    assert (found.high, found.average) == (0, 0.0)
    assert found.smoothed == pytest.approx(SMOOTHING * 4.0)
