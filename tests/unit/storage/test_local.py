"""Where revisions begin."""

from __future__ import annotations

from hydrofoil.clock import Clock
from hydrofoil.engine import View
from hydrofoil.storage import local

ABSURD = 8_999_999_999_999_999
"""The version that the conformance kit takes for one that is never reached."""


class Set(Clock):
    """A clock set to one moment."""

    def __init__(self, nanoseconds: int) -> None:
        super().__init__()
        self._nanoseconds = nanoseconds

    def nanoseconds(self) -> int:
        return self._nanoseconds


def test_revisions_begin_at_the_microseconds_since_2026() -> None:
    assert local.first_revision(Set((local.EPOCH + 5) * 10**9 + 7000)) == 5_000_007


async def test_a_restart_gives_no_revision_out_twice() -> None:
    """Not even of a run that wrote as fast as it could for all of its life."""
    clock = Clock()
    before, begun = local.first_revision(clock), clock.nanoseconds()
    while clock.nanoseconds() // 1000 == begun // 1000:
        pass
    log = local.LocalLog()
    await log.open(View(300.0, 10, 1 << 20, None, clock.native), clock, lambda: None)
    assert before < log.latest(("", "x")) < ABSURD
