"""kube-controller-manager and kube-scheduler beside a server, as they are released."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (os.environ.get("HYDROFOIL_BINARIES", ""), str(ROOT / ".cache/bin"))
"""Where the programs are looked for after PATH; `make binaries` fills the second."""
FLAGS = ("--leader-elect=false", "--secure-port=0")


def found(name: str) -> str | None:
    """Return the path of a program; None if it is absent."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(filter(None, FOLDERS)))


@contextmanager
def beside(program: str, kubeconfig: Path, log: Path, *flags: str) -> Iterator[subprocess.Popen[str]]:
    """Run the program while the block runs, with its output in the log."""
    line = [program, "--kubeconfig", str(kubeconfig), *FLAGS, *flags]
    with log.open("w") as out, subprocess.Popen(line, stdout=out, stderr=subprocess.STDOUT, text=True) as running:
        try:
            yield running
        finally:
            running.terminate()
