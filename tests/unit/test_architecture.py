"""ARCHITECTURE.md and the docstrings of rooms name files that exist, and every room has its own."""

from __future__ import annotations

import ast
import re

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "ARCHITECTURE.md").read_text()
NAMED = sorted(set(re.findall(r"`(\w[\w./-]*(?:/[\w.-]*|\.(?:py|rs|md|json|toml)))`", TEXT)))
PACKAGE = ROOT / "python" / "hydrofoil"
ROOMS = [path.name for path in sorted(PACKAGE.iterdir()) if (path / "__init__.py").is_file()]
CRATES = [path.parent.name for path in sorted((ROOT / "rust").glob("*/Cargo.toml"))]


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


@pytest.mark.parametrize("crate", CRATES)
def test_every_crate_has_a_paragraph(crate: str) -> None:
    assert f"**{crate}**" in TEXT
