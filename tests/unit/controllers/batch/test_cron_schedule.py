"""Schedules: `schedules.tsv` has answers of github.com/robfig/cron/v3 v3.0.1, for random fields and at changes of time.

A line has a schedule, a time in seconds since 1970, and the next moment after it or `none`; or `error` and its text.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrofoil.controllers.batch.cron_schedule import parse_schedule

LINES = [line.split("\t") for line in (Path(__file__).parent / "schedules.tsv").read_text().splitlines()]
SCHEDULES = ("* * * * *", "30 6-16/4 * * 1-5", "TZ=Europe/Berlin 30 2 * * *", "@every 90s", "0 0 1 */3 *")


def test_moments_are_those_of_upstream() -> None:
    assert len(LINES) > 700
    wrong = []
    for text, after, wanted in LINES:
        if after == "error":
            continue
        found = parse_schedule(text).next(int(after))
        if str(found or "none") != wanted:
            wrong.append((text, after, wanted, found))
    assert not wrong


@pytest.mark.parametrize(("text", "message"), [(line[0], line[2]) for line in LINES if line[1] == "error"])
def test_errors_are_those_of_upstream(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_schedule(text)
    assert str(caught.value) == message


@given(st.sampled_from(SCHEDULES), st.integers(0, 2**31), st.integers(0, 10**7))
def test_the_latest_moment_is_the_last_of_them(text: str, after: int, seconds: int) -> None:
    schedule, now = parse_schedule(text), after + seconds
    found = schedule.latest(after, now)
    if found is None:
        first = schedule.next(after)
        assert first is None or first > now
    else:
        following = schedule.next(found)
        assert after < found <= now and (following is None or following > now)


@given(st.text("0123456789*/-,? @TZ=LSUNm", max_size=30))
def test_any_text_is_a_schedule_or_an_error(text: str) -> None:
    try:
        schedule = parse_schedule(text)
    except ValueError:
        return
    found = schedule.next(1767225600)
    assert found is None or found > 1767225600
