"""Sets of indexes (`pkg/controller/job/indexed_job_utils_test.go`): as sets of numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrofoil.controllers.batch.intervals import Intervals

INDEXES = st.sets(st.integers(0, 40))


def numbers(intervals: Intervals) -> set[int]:
    """Return the indexes one by one."""
    return {index for first, last in intervals for index in range(first, last + 1)}


@given(INDEXES, INDEXES)
def test_they_are_sets(one: set[int], other: set[int]) -> None:
    first, second = Intervals.of(one), Intervals.of(other)
    assert numbers(first) == one and first.total == len(one) and bool(first) is bool(one)
    merged = first.merge(second)
    assert numbers(merged) == one | other and first.overlap(second) == len(one & other)
    assert all(left[1] + 1 < right[0] for left, right in zip([*merged], [*merged][1:], strict=False))
    assert {index for index in range(42) if index in first} == one


@given(INDEXES, st.integers(0, 12), st.integers(0, 45))
def test_gaps_are_the_first_missing_ones(taken: set[int], count: int, end: int) -> None:
    assert Intervals.of(taken).gaps(count, end) == [index for index in range(end) if index not in taken][:count]


@given(INDEXES)
def test_texts_are_read_back(indexes: set[int]) -> None:
    found = Intervals.of(indexes)
    assert numbers(Intervals.parse(str(found), 41)) == indexes


@pytest.mark.parametrize(
    ("text", "completions", "wanted"),
    [
        ("", 10, ""),
        ("0,2-4,6,7", 10, "0,2-4,6,7"),
        ("0-3", 2, "0,1"),
        ("1,5,9", 5, "1"),
        ("1,x,3-y,4", 10, "1,4"),
        ("3-5,6", 10, "3-6"),
    ],
)
def test_texts_of_others_are_read(text: str, completions: int, wanted: str) -> None:
    assert str(Intervals.parse(text, completions)) == wanted
