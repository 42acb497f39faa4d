"""The image of a container, as far as it can be seen without building it."""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools.image import __main__ as image
from tools.image import engine

from tests.conftest import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
LOCK = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


def sent() -> list[str]:
    """Return what .dockerignore lets through."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines[0] == "*", "nothing is sent by default"
    return [line.removeprefix("!") for line in lines if line.startswith("!")]


@pytest.mark.parametrize(
    "path",
    [
        path
        for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
        for path in line.split()
        if "$" not in path
    ],
)
def test_what_is_copied_exists_and_is_sent(path: str) -> None:
    assert (ROOT / path).exists()
    assert any(fnmatch.fnmatch(path, name) or path.startswith(f"{name}/") for name in sent())


def test_the_base_has_what_the_dockerfile_would_install() -> None:
    (line,) = re.findall(r"^  \{ apt-get .* --no-install-recommends (.*); \}$", DOCKERFILE, re.MULTILINE)
    assert tuple(line.split()) == engine.PACKAGES


def test_the_image_has_the_versions_that_are_tested() -> None:
    """Tests run with the versions of dev.lock."""
    tested = dict(LOCK.findall((ROOT / "requirements" / "dev.lock").read_text()))
    served = dict(LOCK.findall((ROOT / "requirements" / "serve.lock").read_text()))
    assert served and served == {name: tested.get(name) for name in served}


def test_the_image_has_all_that_the_package_needs() -> None:
    (line,) = re.findall(r"^dependencies = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    needed = set(re.findall(r'"([\w-]+)', line))
    served = dict(LOCK.findall((ROOT / "requirements" / "serve.lock").read_text()))
    given = set(re.findall(r"^([\w-]+)", (ROOT / "requirements" / "serve.in").read_text(), re.MULTILINE))
    assert needed and needed == given and needed <= set(served)


def test_another_content_of_the_base_has_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    before = engine.base_name()
    assert before == engine.base_name()
    monkeypatch.setattr(engine, "PACKAGES", (*engine.PACKAGES, "more"))
    assert engine.base_name() != before


def test_a_file_of_two_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_bytes(b"x" * 1000)
    before = engine.size(tmp_path)
    (tmp_path / "b").hardlink_to(tmp_path / "folder" / "a")
    assert engine.size(tmp_path) == before
    (tmp_path / "c").write_bytes(b"x" * 500)
    assert engine.size(tmp_path) == before + 500


def test_a_line_runs_as_the_container_would(tmp_path: Path) -> None:
    line = engine.Buildah(tmp_path).running("name", ["serve"], var_lib_x=tmp_path)
    assert line[0] == "buildah" and f"--volume={tmp_path}:/var/lib/x" in line and line[-3:] == ["name", "--", "serve"]


def test_programs_that_are_missing_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", ["image", "dist"])
    assert image.main() == 2
    assert capsys.readouterr().err == "the image needs buildah and debootstrap and kubectl\n"


def test_the_last_of_a_chain_of_processes_is_found() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60; :"], stdout=subprocess.DEVNULL) as shell:
        try:
            while (found := engine.last_descendant(shell.pid)) == shell.pid:
                pass
            while not (name := Path(f"/proc/{found}/comm").read_text()).startswith("sleep"):
                assert name == "sh\n"
        finally:
            shell.kill()
            os.kill(found, 9)
