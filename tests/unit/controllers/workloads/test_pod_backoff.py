"""Delays that double (client-go `util/flowcontrol/backoff_test.go`)."""

from __future__ import annotations

from hydrofoil.clock import Clock
from hydrofoil.controllers.workloads import pod_backoff
from hydrofoil.controllers.workloads.pod_backoff import FIRST, LONGEST, PodBackoff

SECOND = 10**9


async def test_delays_double_up_to_the_longest() -> None:
    clock = Clock()
    clock.freeze()
    backoff = PodBackoff(clock)
    assert backoff.remaining("a") == 0
    delays = []
    for _ in range(12):
        backoff.next("a")
        delays.append(backoff.remaining("a"))
        clock.advance(round(delays[-1] * SECOND))
        assert backoff.remaining("a") == 0
    assert delays[:4] == [FIRST, 2, 4, 8] and delays[-1] == LONGEST
    assert backoff.remaining("b") == 0


async def test_what_was_stable_begins_anew() -> None:
    clock = Clock()
    clock.freeze()
    backoff = PodBackoff(clock)
    for _ in range(5):
        backoff.next("a")
    clock.advance(round(2 * LONGEST + 1) * SECOND)
    assert backoff.remaining("a") == 0
    backoff.next("a")
    assert backoff.remaining("a") == FIRST


async def test_what_was_stable_is_forgotten() -> None:
    clock = Clock()
    clock.freeze()
    backoff = PodBackoff(clock)
    for number in range(pod_backoff.MOST):
        backoff.next(str(number))
    clock.advance(round(2 * LONGEST + 1) * SECOND)
    backoff.next("last")
    assert list(backoff._entries) == ["last"]
