"""The configuration of a priority level, and its seats (apiserver `pkg/util/flowcontrol/apf_controller.go`)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

MOST_SEATS_PERCENT = 0.15
"""The part of a level's seats that one request may take."""


class LevelConfig(Struct, frozen=True):
    """The specification of a level."""

    name: str
    uid: str
    exempt: bool
    shares: int
    lendable: int = 0
    """The percentage of its seats that others may borrow."""
    borrowing: int | None = None
    """How much it may borrow itself, in percent of its seats; None: without a limit of its own."""
    queues: int = 0
    """Zero: requests above the limit are refused."""
    length: int = 0
    """The number of requests in a queue."""
    hand: int = 0
    """The number of queues that a flow may use."""


def config_of(raw: dict[str, Any]) -> LevelConfig | None:
    """Return the configuration of an object; None for a malformed one, which is as if it did not exist."""
    spec, meta = raw["spec"], raw["metadata"]
    name, uid = meta["name"], meta.get("uid", "")
    exempt = spec.get("type") == "Exempt"
    limited = spec.get("limited")
    if exempt != (name == "exempt") or exempt == (limited is not None):
        return None
    if exempt:
        own = spec.get("exempt") or {}
        return LevelConfig(name, uid, True, own.get("nominalConcurrencyShares", 0), own.get("lendablePercent", 0))
    response = limited.get("limitResponse") or {}
    queuing = response.get("queuing")
    if (response.get("type") == "Reject") != (queuing is None):
        return None
    shares, lendable = limited.get("nominalConcurrencyShares", 30), limited.get("lendablePercent", 0)
    made = LevelConfig(name, uid, False, shares, lendable, limited.get("borrowingLimitPercent"))
    if queuing is None:
        return made
    queues, hand = queuing.get("queues", 64), queuing.get("handSize", 8)
    if not 0 < hand <= queues:
        return None
    length = queuing.get("queueLengthLimit", 50)
    return LevelConfig(made.name, uid, False, shares, lendable, made.borrowing, queues, length, hand)


EXEMPT = LevelConfig("exempt", "", True, 0)
CATCH_ALL = LevelConfig("catch-all", "", False, 5)
"""The levels that take effect even where their objects are missing."""


class Seats(Struct, frozen=True):
    """The seats of a level: as configured, and the bounds of lending and borrowing."""

    nominal: int
    least: int
    most: int

    @property
    def first(self) -> int:
        """Return the seats of a new level: half of its lendable ones are lent."""
        return self.nominal - (self.nominal - self.least) // 2


def seats_of(config: LevelConfig, total: int, shares: float) -> Seats:
    """Return the seats of a level where all levels together have this many shares of a total."""
    nominal = math.ceil(total * config.shares / shares) if shares else 0
    lendable = round_half_away(nominal * config.lendable / 100)
    borrowing = total if config.borrowing is None else round_half_away(nominal * config.borrowing / 100)
    return Seats(nominal, nominal - lendable, nominal + borrowing)


def round_half_away(value: float) -> int:
    """Round half away from zero, as Go does."""
    return math.floor(value + 0.5)


def max_seats_per_request(config: LevelConfig, nominal: int) -> int:
    """Return the seats that one request of a level may take; 0 means no limit of the level."""
    if not config.queues:
        return 0
    return max(1, min(math.ceil(nominal * MOST_SEATS_PERCENT), nominal // config.hand))


def share_sum(configs: Iterable[LevelConfig]) -> float:
    """Return the shares of all levels together."""
    return float(sum(config.shares for config in configs))
