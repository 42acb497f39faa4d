"""Where revisions begin."""

from __future__ import annotations

import time

import pytest

from hydrofoil.engine import View
from hydrofoil.storage import local

ABSURD = 8_999_999_999_999_999
"""The version that the conformance kit takes for one that is never reached."""


def test_revisions_begin_at_the_microseconds_since_2026(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: (local.EPOCH + 5) * 10**9 + 7000)
    assert local.first_revision() == 5_000_007


async def test_a_restart_gives_no_revision_out_twice() -> None:
    """Not even of a run that wrote as fast as it could for all of its life."""
    before = local.first_revision()
    begun = time.monotonic()
    while time.monotonic() == begun:
        pass
    log = local.LocalLog()
    await log.open(View(300.0, 10, 1 << 20, None), lambda: None)
    assert before < log.latest(("", "x")) < ABSURD
