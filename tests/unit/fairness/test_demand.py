"""The part of a level's seats that is in demand."""

from __future__ import annotations

import pytest

from hydrofoil import engine
from hydrofoil.fairness.demand import Ratios


def test_the_time_of_each_ratio_is_counted() -> None:
    """In nanoseconds; the seats are those of the time."""
    seats = engine.Seats(0.0)
    found = Ratios(seats)
    seats.run(4, 0.0)
    found.look(8, 3.0)
    assert seats.high == 4
    seats.release(4, 5.0)
    ratios = dict(found.until(4, 5.0).cumulative())
    assert (ratios["0.4"], ratios["0.6"], ratios["1"], ratios["+Inf"]) == (0.0, 3e9, 5e9, 5e9)
    assert found.until(4, 5.0).sum == pytest.approx(0.5 * 3e9 + 1.0 * 2e9)
    assert found.until(0, 5.0).counts[-1] == 0
