"""The division of seats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrofoil.fairness.allocation import Claim, allocate

CLAIMS = st.builds(
    lambda low, target, room: Claim(low + target, low, low + room),
    st.integers(0, 50),
    st.floats(0, 100),
    st.integers(0, 200),
)


def test_targets_are_met_in_proportion() -> None:
    assert allocate(30, [Claim(10, 0, 100), Claim(20, 0, 100)]) == ([10, 20], 1.0)
    assert allocate(60, [Claim(10, 0, 100), Claim(20, 0, 100)]) == ([20, 40], 2.0)


def test_bounds_replace_proportions() -> None:
    assert allocate(60, [Claim(10, 0, 15), Claim(20, 0, 100)])[0] == [15, 45]
    assert allocate(15, [Claim(10, 9, 15), Claim(20, 0, 100)])[0] == pytest.approx([9, 6])


@given(st.lists(CLAIMS, min_size=1, max_size=8), st.floats(0, 1))
def test_the_seats_are_the_total_and_within_bounds(claims: list[Claim], part: float) -> None:
    low, high = sum(c.lower for c in claims), sum(c.upper for c in claims)
    total = low + (high - low) * part
    seats, fraction = allocate(total, claims)
    assert sum(seats) == pytest.approx(total, abs=1e-6)
    for claim, count in zip(claims, seats, strict=True):
        assert claim.lower - 1e-6 <= count <= claim.upper + 1e-6
        assert count == pytest.approx(claim.at(fraction), abs=1e-6)


@pytest.mark.parametrize("total", [1, 100])
def test_bounds_that_do_not_allow_the_total_are_an_error(total: int) -> None:
    with pytest.raises(ValueError, match="bounds"):
        allocate(total, [Claim(10, 5, 20)])
