"""Pods that start together are ready one after another, and none waits for long."""

from __future__ import annotations

from hydrofoil.clock import Clock
from hydrofoil.nodes.stagger import GAP, MOST, Stagger

SECOND = 10**9


def test_pods_are_some_time_apart() -> None:
    clock = Clock()
    stagger = Stagger(clock)
    delays = [stagger.draw() for _ in range(50)]
    assert delays[0] == 0 and GAP / 2 < delays[1] <= GAP
    assert delays == sorted(delays) and delays[-1] <= MOST


def test_a_clock_that_stands_still_has_all_of_them_ready_at_the_time() -> None:
    clock = Clock()
    clock.freeze()
    stagger = Stagger(clock)
    assert [stagger.draw() for _ in range(3)] == [0, 0, 0]


def test_a_clock_that_was_moved_back_begins_anew() -> None:
    clock = Clock()
    clock.freeze()
    clock.advance(3600 * SECOND)
    clock.run()
    stagger = Stagger(clock)
    stagger.draw()
    clock.reset()
    assert stagger.draw() == 0
