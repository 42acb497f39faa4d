"""Moments and durations as tests give them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from hydrofoil.controls.moments import moment, nanoseconds


def test_durations() -> None:
    found = [nanoseconds(d) for d in ("25h", 1.5, 2, timedelta(microseconds=3), "0s")]
    assert found == [25 * 3600 * 10**9, 1_500_000_000, 2_000_000_000, 3000, 0]


@pytest.mark.parametrize("given", [-1, "-1h", timedelta(-1), "soon", "", float("nan"), float("inf"), 1e300, "9000000h"])
def test_no_durations(given: Any) -> None:
    with pytest.raises(ValueError, match=r"no duration|goes forward|longer than a century"):
        nanoseconds(given)


@pytest.mark.parametrize("given", [None, True, [1]])
def test_durations_of_other_types(given: Any) -> None:
    with pytest.raises(TypeError, match="is no duration"):
        nanoseconds(given)


def test_moments() -> None:
    new_year = datetime(2026, 1, 1, tzinfo=UTC)
    assert moment(new_year) == moment("2026-01-01T00:00:00Z") == moment("2026-01-01T01:00:00+01:00") == new_year
    for text in ("yesterday", "2026-01-01T00:00:00", "9999-12-31T23:59:59Z", "1066-10-14T00:00:00Z"):
        with pytest.raises(ValueError, match=r"no moment|no zone|between the years"):
            moment(text)
    for other in (5, date(2026, 1, 1), None):
        with pytest.raises(TypeError, match="is no moment"):
            moment(other)
