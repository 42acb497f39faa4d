"""Python and the package in one folder that may be moved, packed: `python -m tools.archive DIST --pip PIP`.

The interpreter and its libraries, that of C among them, are those of the distribution's packages (apt), so that
nothing of the machine but its kernel is needed. The package and what it needs, pinned, are in a folder beside them.
`bin/hydrofoil` finds all of it beside itself, wherever that is.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
USELESS = ("share", "lib/python3/dist-packages", "sbin")
"""Folders of packages that no program here reads."""
ONLY = re.compile(r"(lib(?!pam|audit|debconf)|python3)[a-z0-9.+-]*|zlib1g")
"""The packages of libraries and of Python, among all that Python's depend on."""
WITHOUT = ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")
LAUNCHER = """#!/bin/sh
# All is beside this file, also where the file is reached by a link.
here=$(dirname "$(dirname "$(readlink -f "$0")")")
export PYTHONPATH="$here/packages" PYTHONNOUSERSITE=1 PYTHONDONTWRITEBYTECODE=1
exec "$here/lib/{loader}" --library-path "$here/lib" "$here/usr/bin/python{version}" -P -m hydrofoil "$@"
"""


def run(*line: str | Path, where: Path | None = None) -> str:
    """Return the output of a command. Raise CalledProcessError."""
    return subprocess.run([str(word) for word in line], check=True, cwd=where, stdout=subprocess.PIPE, text=True).stdout


def add_interpreter(folder: Path, version: str) -> str:
    """Add Python and its libraries; return the name of the loader of programs."""
    lines = run("apt-cache", "depends", "--recurse", *(f"--no-{kind}" for kind in WITHOUT), f"python{version}")
    names = sorted({line for line in lines.splitlines() if ONLY.fullmatch(line)})
    with tempfile.TemporaryDirectory() as place:
        run("apt-get", "download", *names, where=Path(place))
        for package in Path(place).glob("*.deb"):
            run("dpkg-deb", "-x", package, folder)
    libraries = folder / "lib"
    gathered = folder / "gathered"
    gathered.mkdir()
    for library in folder.rglob("*.so*"):
        if library.parent.name.endswith("-linux-gnu") and library.is_file():
            # A link within its folder, or the library; each is found by its own name.
            shutil.copy(library, gathered / library.name)
    for useless in ("lib", "lib64", "etc", "var", *(f"usr/{name}" for name in USELESS)):
        if (path := folder / useless).is_symlink():
            path.unlink()
        else:
            shutil.rmtree(path, ignore_errors=True)
    for path in (folder / "usr" / "lib").iterdir():
        if path.name != f"python{version}":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for path in folder.rglob("*"):
        if path.is_symlink() and path.readlink().is_absolute():
            path.unlink()
    gathered.rename(libraries)
    (loader,) = libraries.glob("ld-linux*")
    return loader.name


def make(wheel: Path, folder: Path, pip: str) -> None:
    """Make the folder."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    version = re.sub(r"^Python (\d+\.\d+).*\n", r"\1", run("/usr/bin/python3", "--version")) or version
    loader = add_interpreter(folder, version)
    packages = folder / "packages"
    plain = version.replace(".", "")
    form: list[str] = ["--only-binary", ":all:", "--python-version", version, "--implementation", "cp"]
    form += [word for abi in (f"cp{plain}", "abi3", "none") for word in ("--abi", abi)]
    machine = platform.machine()
    form += [
        word
        for system in ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
        for word in ("--platform", f"{system}_{machine}")
    ]
    install: tuple[str | Path, ...] = (
        pip,
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--target",
        packages,
        "--no-deps",
        *form,
    )
    run(*install, "--require-hashes", "-r", ROOT / "requirements" / "serve.lock")
    run(*install, "--no-index", wheel)
    launcher = folder / "bin" / "hydrofoil"
    launcher.parent.mkdir()
    launcher.write_text(LAUNCHER.format(loader=loader, version=version))
    launcher.chmod(0o755)


def check(archive: Path) -> None:
    """Run the packed server from another place, by a link. Raise CalledProcessError and AssertionError."""
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(archive) as packed:
            packed.extractall(place, filter="data")
        (folder,) = Path(place).iterdir()
        moved = folder.rename(Path(place) / "moved elsewhere")
        link = Path(place) / "hydrofoil"
        link.symlink_to(moved / "bin" / "hydrofoil")
        assert run("env", "-i", link, "--version").startswith("hydrofoil ")
        line = ["env", "-i", str(link), "serve", "--port=0", f"--data-dir={place}/data"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            assert any(text.startswith("serving on ") for text in server.stdout), "it did not start"
            server.terminate()


def main() -> int:
    """Make, pack and try the archive; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dist", type=Path, help="the folder with the wheel, where the archive is put")
    parser.add_argument("--pip", default="pip", help="the program that installs")
    given = parser.parse_args()
    (wheel,) = given.dist.glob(f"hydrofoil-*manylinux*{platform.machine()}.whl")
    name = f"hydrofoil-{wheel.name.split('-')[1]}-linux-{platform.machine()}"
    archive = given.dist / f"{name}.tar.gz"
    with tempfile.TemporaryDirectory() as place:
        make(wheel, Path(place) / name, given.pip)
        with tarfile.open(archive, "w:gz") as packed:
            packed.add(Path(place) / name, name)
    check(archive)
    print(f"{archive}: {archive.stat().st_size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
