"""The part of the conformance kit about credentials and rights, where it is present."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.test_kit import KIT, LINES
from tests.conftest import command

TIMEOUT = 400
CASES = [line for line in LINES if line[0].startswith("secured/")]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the keys, certificates and configurations of the kit."""
    folder = tmp_path_factory.mktemp("keys")
    subprocess.run([sys.executable, KIT / "secured.py", "make", folder], check=True, capture_output=True)
    return folder


@pytest.mark.skipif(not KIT.is_dir(), reason="the conformance kit is absent")
@pytest.mark.parametrize(("name", "least", "total"), CASES, ids=[c[0] for c in CASES])
@pytest.mark.timeout(TIMEOUT)
def test_secured(name: str, least: str, total: str, keys: Path) -> None:
    """Credentials, rights and their reload, by the flags of the file's first line."""
    scenario = KIT / f"{name}.yaml"
    said = subprocess.run(
        [sys.executable, KIT / "secured.py", "flags", keys, scenario], check=True, capture_output=True, text=True
    )
    flags = said.stdout.split()
    if not any(flag.startswith("--tls-cert-file") for flag in flags):
        flags += [f"--tls-cert-file={keys}/serving.crt", f"--tls-private-key-file={keys}/serving.key"]
    controllers = "*" if name.endswith("aggregated_roles") else ""
    line = command("serve", "--port=0", f"--controllers={controllers}", *flags)
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().removeprefix("serving on ").strip()
        args = [sys.executable, f"{KIT}/replay.py", "--server", url, "--token", "admin-token", "--secured", f"{keys}"]
        args += ["--show", "3", "--against", f"{KIT}/secured/golden", f"{scenario}"]
        try:
            done = subprocess.run(args, capture_output=True, text=True, check=False, timeout=TIMEOUT - 20)
        finally:
            running.terminate()
    sys.stdout.write(done.stdout[-6000:])
    found = re.search(r"(\d+) passed, (\d+) failed$", done.stdout.strip())
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    assert int(found[1]) + int(found[2]) == int(total)
    assert int(found[1]) >= int(least)
