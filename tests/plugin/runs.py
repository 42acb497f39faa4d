"""Runs of pytest with the plugin."""

from __future__ import annotations

import pytest

ASYNC = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    """Run pytest in a process of its own."""
    given = ("-W", "error", "-p", "no:cacheprovider", "-p", "no:randomly", *ASYNC, *args)
    return pytester.runpytest_subprocess(*given)
