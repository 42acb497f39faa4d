"""`hydrofoil assets`: programs named etcd and kube-apiserver, for tools that start these."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from hydrofoil import __version__
from hydrofoil.cli.command import Command, existing
from hydrofoil.cli.failure import WRONG, Failure
from hydrofoil.folders import cache_folder
from hydrofoil.options import Options, anything, flag

PROGRAMS = {"etcd": "hydrofoil.cli.etcd", "kube-apiserver": "hydrofoil.cli.apiserver"}


def folder() -> Path:
    """Return the folder in the user's cache, one for each version and interpreter: scripts name theirs."""
    interpreter = sha256(sys.executable.encode()).hexdigest()[:8]
    return cache_folder() / f"assets-{__version__}-{interpreter}"


def script(module: str) -> str:
    """Return a program that becomes the interpreter that wrote it: no process is in between."""
    # `-P`: modules in the folder where a test runs are not taken for others.
    return f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m {module} "$@"\n'


def write(place: Path, kubectl: str) -> None:
    """Write what is absent or different. Raise OSError."""
    place.mkdir(parents=True, exist_ok=True)
    for name, module in PROGRAMS.items():
        path, text = place / name, script(module)
        if path.is_file() and path.read_text() == text and os.access(path, os.X_OK):
            continue
        # Another process may run the program, or write it at the same time.
        beside = place / f".{name}.{os.getpid()}"
        beside.write_text(text)
        beside.chmod(0o755)
        beside.replace(path)
    link = place / "kubectl"
    if kubectl and not (link.is_symlink() and link.readlink() == Path(kubectl)):
        beside = place / f".kubectl.{os.getpid()}"
        beside.symlink_to(kubectl)
        beside.replace(link)


class AssetOptions(Options):
    """The programs to write."""

    kubectl: str = flag("--kubectl", "", anything, "the kubectl to link (default: the one found)", value="PATH")


def run(given: dict[str, Any], words: tuple[str, ...]) -> int:
    """Write the programs; print the folder. Return the exit code."""
    place = (Path(words[0]) if words else folder()).absolute()
    kubectl = given["kubectl"] or shutil.which("kubectl") or ""
    if given["kubectl"]:
        existing(kubectl, "--kubectl")
    try:
        write(place, str(Path(kubectl).absolute()) if kubectl else "")
    except OSError as e:
        raise Failure(f"cannot write {place}: {e.strerror or e}", "DIR takes another folder", WRONG) from None
    if not kubectl:
        sys.stderr.write("hydrofoil: no kubectl was found (--kubectl takes its path)\n")
    sys.stdout.write(f"{place}\n")
    return 0


COMMAND = Command(
    "assets",
    [AssetOptions],
    run,
    "Write programs named etcd and kube-apiserver, and a link to kubectl, into DIR (default: one in the user's cache).",
    arguments="[DIR]",
    most=1,
    examples=("KUBEBUILDER_ASSETS=$(hydrofoil assets) go test ./...",),
)
