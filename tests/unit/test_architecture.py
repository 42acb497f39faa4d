"""ARCHITECTURE.md names files that exist, and every room."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "ARCHITECTURE.md").read_text()
NAMED = sorted(set(re.findall(r"`(\w[\w./-]*(?:/[\w.-]*|\.(?:py|rs|md|json|toml)))`", TEXT)))
PACKAGE = ROOT / "python" / "hydrofoil"
ROOMS = [path.name for path in sorted(PACKAGE.iterdir()) if (path / "__init__.py").is_file()]
CRATES = [path.parent.name for path in sorted((ROOT / "rust").glob("*/Cargo.toml"))]


def test_it_names_files() -> None:
    assert len(NAMED) > 80


@pytest.mark.parametrize("name", NAMED)
def test_a_named_file_exists(name: str) -> None:
    assert any((root / name).exists() for root in (ROOT, PACKAGE)), name


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_paragraph(room: str) -> None:
    assert f"- **{room}/**" in TEXT


@pytest.mark.parametrize("crate", CRATES)
def test_every_crate_has_a_paragraph(crate: str) -> None:
    assert f"**{crate}**" in TEXT
