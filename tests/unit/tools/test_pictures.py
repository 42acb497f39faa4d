"""Pictures of pages, with a browser of paper."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tools import pictures

PAGE = "<svg></svg><table></table>"


def browser(folder: Path, shown: str, size: int = 30_000) -> str:
    """Return a browser that shows a page, and draws a picture of a size."""
    program = folder / "browser"
    program.write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"for word in sys.argv:\n"
        f"    if word.startswith('--screenshot='):\n"
        f"        open(word.partition('=')[2], 'wb').write(b'x' * {size})\n"
        f"sys.stdout.write({shown!r})\n"
    )
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("shown", "size", "why"),
    [
        (PAGE, 30_000, ""),
        ("<svg></svg>", 30_000, "has no plots or no tables"),
        (f'{PAGE}<script src="https://example.com/x.js"></script>', 30_000, "has links to outside"),
        (f"{PAGE}<link href='//example.com/x.css'>", 30_000, "has links to outside"),
        (PAGE, 3_000, "is drawn blank"),
    ],
)
def test_a_page_is_looked_at(tmp_path: Path, shown: str, size: int, why: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(shown)
    assert pictures.drawn(browser(tmp_path, shown, size), page) == why


def test_without_a_browser_nothing_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert pictures.main(tmp_path / "made") == 2
    assert capsys.readouterr().err == "pictures of pages need chromium\n"
    assert not (tmp_path / "made").exists()
