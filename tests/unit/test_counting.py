"""Cheap histograms."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from hydrofoil.counting import Histogram

FINE, COARSE = (0.1, 0.5, 1.0, 2.0), (0.5, 2.0)


@given(st.lists(st.floats(0, 3)))
def test_coarser_buckets_have_the_same_counts(values: list[float]) -> None:
    fine, coarse, merged = Histogram(FINE), Histogram(COARSE), Histogram(COARSE)
    for value in values:
        fine.observe(value)
        coarse.observe(value)
    merged.add(fine)
    assert merged.cumulative() == coarse.cumulative()
    assert merged.sum == fine.sum


def test_bounds_are_written_as_go_writes_them() -> None:
    found = Histogram((0.005, 1.0, 1e6, 1e9))
    found.observe(1.0, 3)
    assert found.cumulative() == [("0.005", 0), ("1", 3), ("1e+06", 3), ("1e+09", 3), ("+Inf", 3)]
    assert found.sum == 3.0


def test_quantiles_lie_in_the_bucket_of_their_rank() -> None:
    found = Histogram((1.0, 2.0, 4.0))
    assert math.isnan(found.quantile(0.5))
    found.observe(0.5, 90)
    found.observe(3.0, 10)
    assert found.quantile(0.45) == 0.5 and found.quantile(0.9) == 1.0
    assert 2.0 < found.quantile(0.99) <= 4.0
    found.observe(9.0, 900)
    assert found.quantile(0.99) == 4.0
