"""Golden files: the right answers to the steps of a scenario, compressed JSON lines in `golden` beside it.

    {"id": "cm-get-missing", "answer": {"status": 404, "headers": {...}, "body": {...}}}

A line with `source` was written by hand, in the scenario's `expect`, with the reason in `note`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.conformance.replay.paths import Object


def read_lines(path: Path) -> Iterator[Object]:
    """Yield the objects of a file of JSON lines, compressed or not."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for line in data.splitlines():
        if line.strip():
            yield json.loads(line)


def write_lines(path: Path, lines: Iterable[Object], sort_keys: bool = True) -> None:
    """Write a compressed file of JSON lines; equal lines are equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, sort_keys=sort_keys) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def file_of(scenario: Path, folder: Path | None = None) -> Path:
    """Return the golden file of a scenario; `folder` is another one than that beside it."""
    return (folder or scenario.parent / "golden") / f"{scenario.stem}.jsonl.gz"


def read(path: Path) -> dict[str, Object]:
    """Return the lines of a golden file by the ids of their steps; nothing where the file is absent."""
    return {line["id"]: line for line in read_lines(path)} if path.exists() else {}
