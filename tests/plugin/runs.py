"""Runs of pytest with the plugin."""

from __future__ import annotations

import pytest

# Plug-ins of these tests that those have no use for take a third of the time of a run.
WITHOUT = ("-p", "no:hypothesispytest", "-p", "no:benchmark", "-p", "no:pytest_cov")
ASYNC = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    """Run pytest in a process of its own."""
    given = ("-W", "error", "-p", "no:cacheprovider", "-p", "no:randomly", *WITHOUT, *ASYNC, *args)
    return pytester.runpytest_subprocess(*given)
