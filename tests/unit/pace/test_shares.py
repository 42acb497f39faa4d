"""The shares of all classes are one turn."""

from __future__ import annotations

from hydrofoil.pace import shares


def test_the_sum_of_the_shares_bounds_a_turn() -> None:
    assert sum(shares.SHARES.values()) <= shares.TURN + 1e-9


def test_every_share_is_in_the_sum() -> None:
    named = {name.lower(): value for name, value in vars(shares).items() if isinstance(value, float)}
    assert named.pop("turn") == shares.TURN
    assert named == shares.SHARES
