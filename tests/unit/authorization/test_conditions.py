"""Conditions of authorization webhooks: the loop waits for short ones only."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hydrofoil.authorization.conditions import Condition, Conditions
from hydrofoil.authorization.metrics import Metrics

LONG = "request.groups.all(a, request.groups.all(b, a + b != 'nothing'))"
"""Its time grows with the square of the groups, its cost stays below the limit for 300."""


def conditions(*texts: str) -> Conditions:
    return Conditions([Condition(text) for text in texts], "webhook", Metrics())


def review(groups: int) -> dict[str, Any]:
    return {"user": "kim", "groups": [f"group-{n}" for n in range(groups)]}


async def test_short_conditions_are_decided_at_once() -> None:
    assert conditions().hold(review(1)) is True
    assert conditions("request.user == 'kim'", LONG).hold(review(2)) is True
    # All expressions of a turn have one share of it.
    await asyncio.sleep(0)
    assert conditions("request.user == 'free'").hold(review(2)) is False
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="no such key"):
        conditions("request.resourceAttributes.name == 'a'").hold(review(2))


async def test_long_conditions_leave_the_loop() -> None:
    """Their author is an administrator, but a client chooses how long they take."""
    for wanted, user in ((True, "kim"), (False, "free")):
        held = conditions(LONG, f"request.user == '{user}'").hold(review(300))
        assert not isinstance(held, bool)
        assert await held is wanted


async def test_an_error_of_a_long_condition_is_raised() -> None:
    held = conditions(f"{LONG} && request.resourceAttributes.name == 'a'").hold(review(300))
    assert not isinstance(held, bool)
    with pytest.raises(ValueError, match="no such key"):
        await held
