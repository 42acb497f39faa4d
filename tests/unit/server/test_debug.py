"""The pages below /debug."""

from __future__ import annotations

from hydrofoil.server import debug


async def test_profiles_are_texts() -> None:
    assert debug.tasks().startswith("goroutine profile: total 1\n1 @ ")
    assert "MainThread" in debug.threads()
    assert debug.objects().startswith("heap profile: (")
