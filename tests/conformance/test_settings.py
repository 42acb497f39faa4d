"""The recorded scenarios of settings: flags, versions, pages of a server about itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conformance.replay import scenario, starts
from tests.conformance.servers import replay, with_token
from tests.conformance.suites import Expectation, expectations

TIMEOUT = 400
SCENARIOS = expectations("settings")
DROP_IN = "import sys; from hydrofoil.cli import drop_in, main; sys.exit(main.main(sys.argv[1:], drop_in.COMMANDS))"
"""The command that refuses in kube-apiserver's words."""
STARTS = expectations("settings/flags")


@pytest.mark.parametrize("case", SCENARIOS, ids=lambda case: case.title)
@pytest.mark.timeout(TIMEOUT)
def test_settings(case: Expectation, tmp_path: Path) -> None:
    """Run a scenario with the flags of its first line."""
    flags = [*scenario.flags(case.path), *with_token(tmp_path)]
    if not any("ServiceAccount" in flag or "plugins" in flag for flag in flags):
        flags += ["--disable-admission-plugins=ServiceAccount"]
    outcome = replay(case.path, "--controllers=", *flags)
    assert len(outcome.passed) + len(outcome.failed) == case.total
    assert len(outcome.passed) >= case.least


@pytest.mark.parametrize("case", STARTS, ids=lambda case: case.title)
@pytest.mark.timeout(900)
def test_flags(case: Expectation, tmp_path: Path) -> None:
    """Start a server with good and bad flags."""
    line = [sys.executable, "-c", DROP_IN, "serve", "--port=0", f"--cert-dir={tmp_path}", "--controllers="]
    # It prints that line when it has started, however slow the machine is.
    outcome = starts.compare(starts.Command(line, wait=60, ready="serving on "), case.path)
    print(outcome)
    assert len(outcome.passed) + len(outcome.failed) == case.total
    assert len(outcome.passed) >= case.least
