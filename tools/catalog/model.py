"""The facts about one release, as plain JSON values, and how they are read and written."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

Json = dict[str, Any]

# Release of the reference server, and the version under which its facts are kept.
RELEASE = "1.36.1"
VERSION = RELEASE.rsplit(".", 1)[0]


@dataclass(frozen=True)
class Facts:
    """Everything known about the built-in types; one attribute is one facts file."""

    types: dict[str, Json]
    resources: list[Json]
    printer_columns: list[Json]
    field_selectors: list[Json]
    lifecycle: dict[str, Json]
    enums: dict[str, list[Any]]
    group_order: list[str]

    @classmethod
    def load(cls, directory: Path) -> Facts:
        return cls(**{f.name: read_json(directory / f"{f.name}.json") for f in fields(cls)})

    def save(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        for field in fields(self):
            text = json.dumps(getattr(self, field.name), indent=1)
            (directory / f"{field.name}.json").write_text(text + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def minified(value: object) -> bytes:
    """One line of JSON: package data is read by machines only."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
