"""Configurations of priority levels."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.fairness.limits import LevelConfig, config_of, max_seats_per_request, seats_of, share_sum


def made(name: str = "l", **spec: Any) -> LevelConfig | None:
    return config_of({"metadata": {"name": name, "uid": "u"}, "spec": spec})


REJECT = {"type": "Reject"}
QUEUE = {"type": "Queue", "queuing": {"queues": 8, "handSize": 2, "queueLengthLimit": 5}}


def test_a_level_is_read() -> None:
    limited = {"nominalConcurrencyShares": 7, "lendablePercent": 50, "borrowingLimitPercent": 10}
    found = made(type="Limited", limited=limited | {"limitResponse": QUEUE})
    assert found == LevelConfig("l", "u", False, 7, 50, 10, 8, 5, 2)
    assert made(type="Limited", limited={"limitResponse": REJECT}) == LevelConfig("l", "u", False, 30)
    assert made("exempt", type="Exempt") == LevelConfig("exempt", "u", True, 0)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("l", {"type": "Exempt"}),
        ("exempt", {"type": "Limited", "limited": {"limitResponse": REJECT}}),
        ("l", {"type": "Limited"}),
        ("l", {"type": "Limited", "limited": {"limitResponse": {"type": "Queue"}}}),
        ("l", {"type": "Limited", "limited": {"limitResponse": QUEUE | {"queuing": {"queues": 2, "handSize": 3}}}}),
    ],
)
def test_a_malformed_level_is_as_if_absent(name: str, spec: Any) -> None:
    assert made(name, **spec) is None


def test_seats_are_shares_of_the_server() -> None:
    config = LevelConfig("l", "u", False, 30, 50, 10, 8, 5, 2)
    assert share_sum([config, config]) == 60
    seats = seats_of(config, 100, 60)
    assert (seats.nominal, seats.least, seats.most, seats.first) == (50, 25, 55, 38)
    assert max_seats_per_request(config, 50) == 8 and max_seats_per_request(config, 2) == 1
    assert seats_of(LevelConfig("l", "", False, 30), 100, 60).most == 150
    assert max_seats_per_request(LevelConfig("l", "", False, 30), 50) == 0
