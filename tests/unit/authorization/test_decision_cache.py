"""Decisions that are kept (apimachinery `util/cache/lruexpirecache.go`)."""

from __future__ import annotations

from hydrofoil.authorization.webhook import MOST_DECISIONS, DecisionCache
from hydrofoil.clock import Clock
from hydrofoil.request import ALLOWED


class Manual(Clock):
    """A clock that stands still."""

    time = 100.0

    def seconds(self) -> float:
        return self.time


def test_a_decision_ends_with_its_time() -> None:
    clock = Manual()
    kept = DecisionCache(clock)
    kept.put(b"a", ALLOWED, 5.0)
    clock.time += 4.9
    assert kept.get(b"a") is ALLOWED
    clock.time += 0.1
    assert kept.get(b"a") is None
    assert len(kept) == 0


def test_nothing_is_kept_for_no_time() -> None:
    kept = DecisionCache(Manual())
    kept.put(b"a", ALLOWED, 0.0)
    assert len(kept) == 0


def test_the_least_used_is_removed_first() -> None:
    kept = DecisionCache(Manual())
    for n in range(MOST_DECISIONS):
        kept.put(b"%d" % n, ALLOWED, 5.0)
    assert kept.get(b"0") is ALLOWED
    kept.put(b"new", ALLOWED, 5.0)
    assert (kept.get(b"0"), kept.get(b"1"), len(kept)) == (ALLOWED, None, MOST_DECISIONS)
