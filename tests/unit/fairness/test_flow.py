"""Counts of flows."""

from __future__ import annotations

from hydrofoil.counting import Histogram
from hydrofoil.fairness.flow import Work


def test_a_histogram_counts_up_to_its_bounds() -> None:
    found = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 9.0):
        found.observe(value)
    assert found.cumulative() == [("1", 2.0), ("2", 3.0), ("+Inf", 4.0)] and found.sum == 12.0


def test_the_seats_of_a_request_are_those_of_its_wider_part() -> None:
    assert Work(2, 5, 0.1).most == 5 and Work(3).most == 3
