"""The part of the conformance kit about settings, where it is present: flags, versions, pages about a server."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.test_kit import KIT, LINES, replay
from tests.conftest import command

TIMEOUT = 400
CASES = [line for line in LINES if line[0].startswith("settings/") and line[0] != "settings/flags"]
FLAGS = [line for line in LINES if line[0] == "settings/flags"]


@pytest.mark.skipif(not KIT.is_dir(), reason="the conformance kit is absent")
@pytest.mark.parametrize(("name", "least", "total"), CASES, ids=[c[0] for c in CASES])
@pytest.mark.timeout(TIMEOUT)
def test_settings(name: str, least: str, total: str, tmp_path: Path) -> None:
    """Run a scenario with the flags of its first line."""
    scenario = KIT / f"{name}.yaml"
    first = scenario.read_text().partition("\n")[0].partition("flags:")[2].strip()
    flags = [] if first == "none" else shlex.split(first)
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("admin,admin,admin,system:masters\n")
    flags += [f"--cert-dir={tmp_path}", f"--token-auth-file={tokens}"]
    if not any("ServiceAccount" in flag or "plugins" in flag for flag in flags):
        flags += ["--disable-admission-plugins=ServiceAccount"]
    passed, failed = replay(scenario, KIT / "settings" / "golden", "--controllers", "", *flags)
    assert passed + failed == int(total)
    assert passed >= int(least)


@pytest.mark.skipif(not KIT.is_dir(), reason="the conformance kit is absent")
@pytest.mark.parametrize(("name", "least", "total"), FLAGS, ids=[c[0] for c in FLAGS])
@pytest.mark.timeout(900)
def test_flags(name: str, least: str, total: str, tmp_path: Path) -> None:
    """Start a server with good and bad flags."""
    line = shlex.join(command("serve", "--port=0", f"--cert-dir={tmp_path}", "--controllers="))
    args = [sys.executable, f"{KIT}/flags.py", "--command", line, "--against", f"{KIT}/{name}/golden"]
    done = subprocess.run([*args, f"{KIT}/{name}/flags.yaml"], capture_output=True, text=True, check=False, timeout=880)
    sys.stdout.write(done.stdout[-6000:])
    found = re.search(r"(\d+) passed, (\d+) failed$", done.stdout.strip())
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    assert int(found[1]) + int(found[2]) == int(total)
    assert int(found[1]) >= int(least)
