"""Musl wheels name the C library as distributions do."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from pathlib import Path

import pytest
from tools import musl

from tests.conftest import ROOT

LIBRARY = "hydrofoil/_native.abi3.so"
RECORD = "hydrofoil-1.0.dist-info/RECORD"
FILES = {"hydrofoil/__init__.py": b"one", LIBRARY: b"needs libc.so\n"}


def row(name: str, data: bytes) -> str:
    """Return the line of a file in a RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


@pytest.fixture
def patchelf(tmp_path: Path) -> str:
    """Return a program that does with text what patchelf does with libraries."""
    program = tmp_path / "patchelf"
    program.write_text(
        '#!/bin/sh\ncase $1 in\n--print-needed) sed -n "s/^needs //p" "$2" ;;\n'
        '--replace-needed) sed -i "s/^needs $2$/needs $3/" "$4" ;;\nesac\n'
    )
    program.chmod(0o755)
    return str(program)


def wheel(folder: Path, platform: str) -> Path:
    """Write a wheel."""
    path = folder / f"hydrofoil-1.0-cp311-abi3-{platform}.whl"
    rows = [row(name, data) for name, data in FILES.items()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in FILES.items():
            archive.writestr(name, data)
        archive.writestr(RECORD, "\n".join([*rows, f"{RECORD},,", ""]))
    return path


def contents(path: Path) -> dict[str, bytes]:
    """Return the files of a wheel by their names."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
def test_the_library_has_the_name_of_distributions(tmp_path: Path, patchelf: str, architecture: str) -> None:
    made = wheel(tmp_path, f"musllinux_1_2_{architecture}")
    assert musl.mended(made, patchelf)
    found = contents(made)
    assert found[LIBRARY] == f"needs libc.musl-{architecture}.so.1\n".encode()
    rows = list(csv.reader(io.StringIO(found.pop(RECORD).decode())))
    assert [",".join(cells) for cells in rows] == [*(row(*file) for file in found.items()), f"{RECORD},,"]
    assert not musl.mended(made, patchelf), "it is mended once"
    assert [path.name for path in tmp_path.glob("hydrofoil*")] == [made.name]


def test_other_wheels_stay_as_they_are(tmp_path: Path, patchelf: str) -> None:
    made = wheel(tmp_path, "manylinux_2_28_x86_64")
    before = made.read_bytes()
    assert not musl.mended(made, patchelf)
    assert made.read_bytes() == before


def test_every_wheel_of_musl_is_mended_when_it_is_built() -> None:
    lines = (ROOT / "Makefile").read_text()
    (line,) = (line for line in lines.splitlines() if "tools.musl" in line)
    assert line.startswith("\t$(if $(findstring musl,$(TARGET)),")
