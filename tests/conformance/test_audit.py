"""The part of the conformance kit about audit records, where it is present."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.test_kit import KIT, LINES
from tests.conftest import command

TIMEOUT = 300
CASES = [line for line in LINES if line[0].startswith("audit/")]
POLICIES = {"facts": "everything"}


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.mark.skipif(not KIT.is_dir(), reason="the conformance kit is absent")
@pytest.mark.parametrize(("name", "least", "total"), CASES, ids=[c[0] for c in CASES])
@pytest.mark.timeout(TIMEOUT)
def test_session(name: str, least: str, total: str, tmp_path: Path) -> None:
    """Run a session as it was recorded."""
    kind = name.partition("/")[2]
    tokens, log = tmp_path / "tokens.csv", tmp_path / "audit.log"
    tokens.write_text("admin,admin,admin,system:masters\n")
    flags = [f"--cert-dir={tmp_path}", f"--token-auth-file={tokens}", "--disable-admission-plugins=ServiceAccount"]
    flags += ["--service-account-issuer=https://kubernetes.default.svc"]
    flags += [f"--audit-policy-file={KIT}/audit/policies/{POLICIES.get(kind, kind)}.yaml"]
    args = [sys.executable, f"{KIT}/audit.py"]
    if kind == "sent":
        port = str(free_port())
        made = subprocess.run([*args, "kubeconfig", port], check=True, capture_output=True, text=True)
        (tmp_path / "kubeconfig").write_text(made.stdout)
        flags += [f"--audit-webhook-config-file={tmp_path}/kubeconfig", "--audit-webhook-batch-max-wait=1s"]
        args += ["--sink", port]
    else:
        flags += [f"--audit-log-path={log}"]
        args += ["--log", f"{log}", *(["--hooks"] if kind == "facts" else [])]
    line = command("serve", "--port=0", "--controllers=", *flags)
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = next(said for said in running.stdout if said.startswith("serving on ")).split()[-1]
        args += ["--server", url, "--token", "admin", "--show", "3", "--against", f"{KIT}/audit/golden"]
        try:
            done = subprocess.run(
                [*args, f"{KIT}/{name}.yaml"], capture_output=True, text=True, check=False, timeout=TIMEOUT - 20
            )
        finally:
            running.terminate()
    sys.stdout.write(done.stdout[-6000:])
    found = re.search(r"(\d+) passed, (\d+) failed$", done.stdout.strip())
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    assert int(found[1]) + int(found[2]) == int(total)
    assert int(found[1]) >= int(least)
