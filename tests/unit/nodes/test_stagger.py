"""Pods that start together are ready one after another, and none waits for long."""

from __future__ import annotations

from hydrofoil.clock import Clock
from hydrofoil.nodes.stagger import GAP, MOST, STEP, STEPS, Stagger

SECOND = 10**9


def test_pods_are_some_time_apart() -> None:
    clock = Clock()
    stagger = Stagger(clock)
    delays = [stagger.draw() for _ in range(50)]
    assert delays[0] == 0 and GAP / 2 < delays[1] <= GAP
    assert delays == sorted(delays) and delays[-1] <= MOST


def test_nothing_is_late_where_the_clock_stands_still() -> None:
    clock = Clock()
    clock.freeze()
    stagger = Stagger(clock)
    delays = [stagger.draw() for _ in range(STEPS + 3)]
    assert len(set(delays)) == STEPS + 1 and delays == sorted(delays)
    assert delays[0] == -STEPS * STEP and delays[-1] == 0
    clock.advance(SECOND)
    assert stagger.draw() == delays[0]


def test_a_clock_that_was_moved_back_begins_anew() -> None:
    clock = Clock()
    clock.freeze()
    clock.advance(3600 * SECOND)
    clock.run()
    stagger = Stagger(clock)
    stagger.draw()
    clock.reset()
    assert stagger.draw() == 0
