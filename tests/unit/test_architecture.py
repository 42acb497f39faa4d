"""ARCHITECTURE.md and the docstrings of rooms and crates name files that exist."""

from __future__ import annotations

import ast
import re

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "ARCHITECTURE.md").read_text()
NAMED = sorted(set(re.findall(r"`(\w[\w./-]*(?:/[\w.-]*|\.(?:py|rs|md|json|toml)))`", TEXT)))
PACKAGE = ROOT / "python" / "hydrofoil"
ROOMS = [path.name for path in sorted(PACKAGE.iterdir()) if (path / "__init__.py").is_file()]
CRATES = [path.parents[1].name for path in sorted((ROOT / "rust").glob("*/src/lib.rs"))]


def test_it_names_files() -> None:
    assert len(NAMED) > 50


@pytest.mark.parametrize("name", NAMED)
def test_a_named_file_exists(name: str) -> None:
    assert any((root / name).exists() for root in (ROOT, PACKAGE)), name


def description(room: str) -> str:
    """Return the docstring of a package."""
    return ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text())) or ""


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_describes_its_files(room: str) -> None:
    """A sentence that the index shows, and a paragraph with files that exist."""
    summary, _, body = description(room).partition("\n\n")
    assert "\n" not in summary and body
    for name in re.findall(r"`([\w/-]+(?:\.py|/))`", body):
        assert any((root / name).exists() for root in (PACKAGE / room, PACKAGE, ROOT)), name


def crate_description(crate: str) -> str:
    """Return the documentation of a crate."""
    lines = (ROOT / "rust" / crate / "src" / "lib.rs").read_text().splitlines()
    return "\n".join(line[4:] for line in lines if line.startswith("//!"))


@pytest.mark.parametrize("crate", CRATES)
def test_every_crate_describes_its_files(crate: str) -> None:
    """Paths are relative to its sources, those of other crates and of the package to the repository."""
    text = crate_description(crate)
    assert len(text) > 60
    for name in re.findall(r"`([\w/-]+\.(?:rs|py))`", text):
        assert any((root / name).exists() for root in (ROOT / "rust" / crate / "src", ROOT, PACKAGE)), name


def test_it_is_short() -> None:
    """Ideas, house, flows and reasons; what a room has is told by the room."""
    assert len(TEXT.encode()) < 25_000
