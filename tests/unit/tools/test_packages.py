"""The checks of packages."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from tools import foreign, packages

NAME = "hydrofoil-1.0-cp311-abi3-manylinux_2_28_x86_64.whl"


@pytest.mark.parametrize(
    ("name", "minor"),
    [
        (NAME, 28),
        ("a-1-cp311-abi3-manylinux_2_17_aarch64.manylinux2014_aarch64.manylinux_2_28_aarch64.whl", 17),
        ("a-1-cp311-abi3-musllinux_1_2_aarch64.whl", 2),
        ("a-1-cp311-abi3-linux_x86_64.whl", 99),
    ],
)
def test_the_system_that_a_name_claims(name: str, minor: int) -> None:
    assert packages.oldest(name) == minor


@pytest.mark.parametrize(
    ("repaired", "files", "wrong"),
    [
        (NAME, ["a.py"], []),
        (NAME.replace("2_28", "2_17"), ["a.py"], []),
        (NAME.replace("2_28", "2_34"), ["a.py"], ["needs a later system than it claims"]),
        (NAME.replace("manylinux_2_28", "linux"), ["a.py"], ["needs a later system than it claims"]),
        (NAME, ["a.py", "hydrofoil.libs/libz.so.1"], ["needs libraries that its platform does not promise"]),
    ],
)
def test_a_repair_shows_what_a_wheel_lacks(tmp_path: Path, repaired: str, files: list[str], wrong: list[str]) -> None:
    auditwheel, made = tmp_path / "auditwheel", tmp_path / "made.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for file in files:
            archive.writestr(file, "")
    auditwheel.write_text(f'#!/bin/sh\n[ "$1" = show ] || cp {made} "$3/{repaired}"\n')
    auditwheel.chmod(0o755)
    found = packages.audited(tmp_path / NAME, str(auditwheel))
    assert [why.partition(":")[0].partition(",")[0] for why in found] == wrong


def test_children_of_an_emulated_python_are_emulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulator is given the name of the script, which becomes `sys.executable`."""
    emulator = tmp_path / foreign.emulator("aarch64")
    emulator.write_text('#!/bin/sh\necho "$@"\n')
    emulator.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    script = foreign.interpreter(tmp_path, Path("/root"), [Path("/a"), Path("/b")], "aarch64")
    done = subprocess.run([script, "-c", "1"], capture_output=True, text=True, check=True)
    words = done.stdout.split()
    assert words[:4] == ["-0", str(script), "-L", "/root"]
    assert "PYTHONPATH=/a:/b" in words
    assert words[-3:] == ["/root/usr/bin/python3.11", "-c", "1"]


def test_each_architecture_of_a_wheel_can_be_tried() -> None:
    assert set(foreign.DEBIAN) == {"x86_64", "aarch64"}
