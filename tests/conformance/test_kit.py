"""The conformance kit, where it is present: what passes today must pass tomorrow."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SHARED, command

KIT = SHARED / "conformance"
EXPECTED = Path(__file__).with_name("expected.txt")
"""Scenario, steps that pass at least, steps in all, and whether the controllers run."""

CASES = [line.split() for line in EXPECTED.read_text().splitlines() if line and not line.startswith("#")]


@pytest.mark.skipif(not KIT.is_dir(), reason="the conformance kit is absent")
@pytest.mark.parametrize(("name", "least", "total"), CASES, ids=[c[0] for c in CASES])
@pytest.mark.timeout(150)
def test_scenario(name: str, least: str, total: str) -> None:
    controllers = "*" if name == "lifecycle" else ""
    args = command("serve", "--port", "0", "--controllers", controllers)
    with subprocess.Popen(args, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().removeprefix("serving on ").strip()
        replay = [sys.executable, str(KIT / "replay.py"), "--server", url, "--token", "admin"]
        replay += ["--against", str(KIT / "golden"), str(KIT / "scenarios" / f"{name}.yaml")]
        done = subprocess.run(replay, capture_output=True, text=True, check=False, timeout=140)
        running.terminate()
    found = re.search(r"(\d+) passed, (\d+) failed$", done.stdout.strip())
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    assert int(found[1]) + int(found[2]) == int(total)
    assert int(found[1]) >= int(least), done.stdout[-6000:]
