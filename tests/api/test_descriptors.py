"""A server whose caller has closed its standard descriptors, or that has no home, lives and ends like any other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.conftest import command


def port_of(folder: Path) -> str:
    """Return the address in a kubeconfig, once it is written."""
    for _ in range(2000):
        if folder.exists() and (text := folder.read_text()):
            return text.partition("server: ")[2].split()[0]
        time.sleep(0.01)
    raise AssertionError("no kubeconfig was written")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors(tmp_path: Path, closed: str, number: int) -> None:
    """libuv ends a process that closes one of the first three (libuv issue 4558)."""
    place = tmp_path / "kubeconfig"
    line = " ".join(command("serve", "--port", "0", "--kubeconfig", str(place)))
    process = subprocess.Popen(["sh", "-c", f"exec {line} {closed}"])
    try:
        with urllib.request.urlopen(f"{port_of(place)}/readyz", timeout=10) as answer:
            assert answer.status == 200
        process.send_signal(number)
        assert process.wait(20) == (0 if number == signal.SIGTERM else 130)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("words", [("assets",), ("doctor",), ("serve", "--port", "0", "--host", "0.0.0.0")])
def test_a_user_without_a_name_and_a_home(tmp_path: Path, words: tuple[str, ...]) -> None:
    """As in OpenShift, `docker run -u 12345`, and units of systemd with DynamicUser."""
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}
    program = (
        "import pwd, sys\n"
        "def getpwuid(uid): raise KeyError(uid)\n"
        "pwd.getpwuid = getpwuid\n"
        "from hydrofoil.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    line = [sys.executable, "-c", program, *words]
    process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    place = tmp_path / f"hydrofoil-{os.getuid()}"
    if words[0] == "serve":
        lines = [process.stdout.readline(), process.stdout.readline()]
        process.terminate()
        process.communicate(timeout=20)
        assert lines[0] == f"kubeconfig {place}/state/admin.conf\n", lines
        assert lines[1].startswith("serving on https://"), lines
        assert process.returncode == 0
        return
    output = process.communicate(timeout=60)[0]
    assert "Traceback" not in output and "home directory" not in output, output
    if words[0] == "assets":
        assert process.returncode == 0 and output.startswith(f"{place}/.cache/assets-"), output
