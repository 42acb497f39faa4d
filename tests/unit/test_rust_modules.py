"""Within a crate only a parent and its child import each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.imports import circles
from tests.modules import graph, without_families

CRATES = [path.parent.name for path in sorted((ROOT / "rust").glob("*/src"))]


@pytest.mark.parametrize("crate", CRATES)
def test_no_module_is_part_of_a_circle(crate: str) -> None:
    assert circles(without_families(graph(ROOT / "rust" / crate / "src"))) == []


def test_circles_are_found(tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\nmod c;\n")
    (tmp_path / "a.rs").write_text("use crate::{b::{B, Other as _}, c};\n")
    (tmp_path / "b.rs").write_text(
        "// use crate::c;\nfn f() { super::a::call() }\n#[cfg(test)]\nmod tests { use crate::c; }\n"
    )
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "mod.rs").write_text("mod d;\nuse d::D;\n")
    (tmp_path / "c" / "d.rs").write_text("use super::E;\n")
    found = without_families(graph(tmp_path))
    assert circles(found) == [["a", "b"]]
    assert found["a"] == {"b", "c"}
