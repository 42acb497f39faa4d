"""The commands of the pages of docs/how-to, with what they print; `make first` runs those that install the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

INSTALLS = "pip install --quiet hydrofoil\n"
PAGES = sorted(
    page
    for page in (ROOT / "docs" / "how-to").glob("*.md")
    if "```console" in (text := page.read_text()) and INSTALLS not in text
)


@pytest.mark.program("kubectl")
@pytest.mark.program("curl")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands(page: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    line = [sys.executable, "-m", "tools.tutorial", str(page)]
    done = subprocess.run(
        line, cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
