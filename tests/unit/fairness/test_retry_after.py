"""Retry-After."""

from __future__ import annotations

from hydrofoil.fairness.level import MOST_SECONDS, RetryAfter


def test_the_time_grows_with_refusals_and_shrinks_without() -> None:
    found = RetryAfter()
    for second in range(100, 300):
        for _ in range(200):
            found.refused(second)
    assert found.seconds == MOST_SECONDS
    for second in range(400, 900, 5):
        found.refused(second)
    assert found.seconds < MOST_SECONDS


def test_few_refusals_cost_a_second() -> None:
    found = RetryAfter()
    assert [found.refused(second) for second in range(100, 110)] == [1] * 10
