"""Pictures of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tools import page_pictures


class Drawing:
    """A tab that draws pictures of a size."""

    def __init__(self, size: int) -> None:
        self.problems: list[str] = []
        self._size = size

    def open(self, url: str) -> None:
        """Note where it is."""
        assert url == "http://x/ui/#/pods"

    def wait(self, script: str) -> None:
        """Be there."""

    def picture(self, path: Path, *, dark: bool) -> None:
        """Draw."""
        path.write_bytes(b"x" * self._size)


@pytest.mark.parametrize(
    ("size", "wrong"), [(30_000, []), (300, ["ui-table.png is drawn blank", "ui-table-dark.png is drawn blank"])]
)
def test_a_picture_is_looked_at(tmp_path: Path, size: int, wrong: list[str]) -> None:
    page: Any = Drawing(size)
    assert page_pictures.draw(page, "http://x", "table", tmp_path) == wrong
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ui-table-dark.png", "ui-table.png"]


def test_without_a_browser_nothing_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert page_pictures.main(tmp_path / "made", []) == 2
    assert capsys.readouterr().err == "pictures of the page need chromium\n"
