"""The lines of the next changelog, one file each."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "changes"
NAME = re.compile(r"\+[a-z0-9]+(-[a-z0-9]+)*\.gain\.md")
CHANGES = sorted(path.name for path in FOLDER.iterdir() if path.name != "template.jinja")


def draft(folder: Path, *words: str) -> str:
    """Return what towncrier prints for a checkout."""
    line = [sys.executable, "-m", "towncrier", "build", "--version=99.0.0", "--date=2030-01-02", *words]
    return subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True).stdout


@functools.cache
def lines() -> str:
    """Return the section that a release would write, in one line: the same for each file."""
    return " ".join(draft(ROOT, "--draft").split())


@pytest.mark.parametrize("name", CHANGES)
def test_each_is_a_readable_line(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert NAME.fullmatch(name), "a name like +what-it-is.gain.md"
    assert re.match(r"[A-Z`/]", text) and text.endswith(".\n") and "\n\n" not in text, "one paragraph of sentences"
    assert all(len(line) <= 126 for line in text.splitlines())
    assert "- " + " ".join(text.split()) in lines()


def test_a_release_takes_them_and_the_lines_that_were_unreleased(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "changes")
    (tmp_path / "changes" / "+two.gain.md").write_text("`a` does one thing,\nand another one.\n")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- Kept.\n")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    draft(tmp_path, "--yes")
    text = (tmp_path / "CHANGELOG.md").read_text()
    assert text.startswith("# Changelog\n\n## Unreleased\n\n## 99.0.0 (2030-01-02)\n\n- ")
    assert "- `a` does one thing,\n  and another one.\n" in text and text.endswith("\n- Kept.\n")
    assert [path.name for path in (tmp_path / "changes").iterdir()] == ["template.jinja"]
    assert "## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text()
