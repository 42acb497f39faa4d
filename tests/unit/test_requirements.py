"""Citations of docs/requirements.md by id."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

FOLDERS = ["python", "rust", "tests", "tools", "bench"]
SUFFIXES = {".py", ".pyi", ".rs", ".md"}
SKIPPED = {"__pycache__", ".venv", "target"}
ROW = re.compile(r"^\| ([A-Z]{2,4}-[0-9]{2}) \| \S", re.MULTILINE)


def required() -> list[str]:
    return ROW.findall((ROOT / "docs" / "requirements.md").read_text("utf-8"))


def texts() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and not SKIPPED.intersection(path.relative_to(ROOT).parts):
                yield path


def test_each_id_is_defined_once() -> None:
    counts = Counter(required())
    assert counts
    assert [name for name, count in counts.items() if count > 1] == []


def test_each_cited_id_is_defined() -> None:
    """Prefixes that the document does not use (UTF-16, RFC-..) are no citations."""
    known = set(required())
    prefixes = "|".join(sorted({name.partition("-")[0] for name in known}))
    cited = re.compile(rf"(?<![\w-])(?:{prefixes})-[0-9]{{2}}(?![\w])")
    unknown = [
        f"{path.relative_to(ROOT)}:{number}: {name}"
        for path in texts()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for name in cited.findall(line)
        if name not in known
    ]
    assert unknown == []
