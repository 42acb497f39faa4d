"""The smoke test of a wheel of another architecture, under qemu: `python -m tools.foreign DIST [--architecture A]`.

Debian's own packages are the system that it runs on, in a folder of their own; nothing of this machine is changed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.image.engine import MIRROR, SUITE

ROOT = Path(__file__).parents[1]
SMOKE = ROOT / "tools" / "smoke.py"
DEBIAN = {"aarch64": "arm64", "x86_64": "amd64"}
"""Debian's names of architectures."""
PYTHON = "3.11"
"""The Python of the suite."""
PACKAGES = (f"python{PYTHON}", f"python{PYTHON}-minimal", f"libpython{PYTHON}-stdlib")
GLIBC = (28, 17)
"""The minor versions of glibc whose wheels are taken."""


def absent(architecture: str) -> list[str]:
    """Return the programs that are needed and not here."""
    return [name for name in ("debootstrap", "dpkg", emulator(architecture)) if shutil.which(name) is None]


def emulator(architecture: str) -> str:
    """Return the name of the program that runs others of an architecture."""
    return f"qemu-{architecture}-static"


def system(folder: Path, architecture: str) -> Path:
    """Return the root of a Debian of an architecture, unpacked but not configured. Raise CalledProcessError."""
    root = folder / f"{SUITE}-{architecture}"
    if root.exists():
        return root
    with tempfile.TemporaryDirectory(dir=folder) as name:
        made = Path(name) / "root"
        line = ["debootstrap", "--foreign", f"--arch={DEBIAN[architecture]}", "--variant=minbase"]
        subprocess.run(
            [*line, f"--include={','.join(PACKAGES)}", SUITE, str(made), MIRROR],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        for package in sorted((made / "var/cache/apt/archives").glob("*.deb")):
            subprocess.run(["dpkg", "--extract", str(package), str(made)], check=True)
            package.unlink()
        made.rename(root)
    return root


def installed(wheel: Path, folder: Path, architecture: str) -> list[Path]:
    """Return the folders of a wheel and of its dependencies, for an architecture. Raise CalledProcessError."""
    own, others = folder / "own", folder / "others"
    line = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    platforms = [f"--platform=manylinux_2_{minor}_{architecture}" for minor in GLIBC]
    line += ["--only-binary=:all:", f"--python-version={PYTHON}", *platforms]
    locked = ["--require-hashes", "-r", str(ROOT / "requirements" / "serve.lock")]
    subprocess.run([*line, f"--target={others}", *locked], check=True)
    subprocess.run([*line, f"--target={own}", "--no-index", str(wheel)], check=True)
    return [own, others]


def interpreter(folder: Path, root: Path, sites: list[Path], architecture: str) -> Path:
    """Return a script that runs the Python of a root; its children that run `sys.executable` run it as well."""
    script = folder / "python"
    settings = f"-E PYTHONHOME={root}/usr -E PYTHONPATH={':'.join(map(str, sites))}"
    program = f"{root}/usr/bin/python{PYTHON}"
    script.write_text(f'#!/bin/sh\nexec {emulator(architecture)} -0 "$0" -L {root} {settings} {program} "$@"\n')
    script.chmod(0o755)
    return script


def main() -> int:
    """Run the smoke test of the wheel in a folder; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.foreign")
    parser.add_argument("dist", type=Path)
    parser.add_argument("--architecture", choices=sorted(DEBIAN), default="aarch64")
    parser.add_argument("--folder", type=Path, default=ROOT / ".cache" / "foreign")
    given = parser.parse_args()
    architecture = given.architecture
    if missing := absent(architecture):
        print(f"a wheel of {architecture} needs {' and '.join(missing)}", file=sys.stderr)
        return 2
    wheels = sorted(given.dist.glob(f"*manylinux*_{architecture}.whl"))
    if len(wheels) != 1:
        print(f"{given.dist} has {len(wheels)} wheels of {architecture}", file=sys.stderr)
        return 2
    given.folder.mkdir(parents=True, exist_ok=True)
    root = system(given.folder.resolve(), architecture)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sites = installed(wheels[0].resolve(), folder, architecture)
        python = interpreter(folder, root, sites, architecture)
        begun = time.perf_counter()
        look = "import platform; print(platform.python_version(), platform.machine(), flush=True)"
        subprocess.run([python, "-c", look], check=True)
        # RemoteServer, so that the sources are not what is imported.
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        subprocess.run([python, SMOKE], check=True, cwd=folder, env=environment)
        print(f"{wheels[0].name}: tried in {time.perf_counter() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
