"""Benchmarks run on the release build only."""

from __future__ import annotations

import pytest

from hydrofoil import engine


def pytest_configure() -> None:
    """Refuses a debug build."""
    if engine.build_profile != "release":
        raise pytest.UsageError("benchmarks need the release build: make build")
