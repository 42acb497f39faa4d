"""Texts of fields, from the `SwaggerDoc` functions that the API packages carry."""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import Path

GENERATED = "types_swagger_doc_generated.go"
TABLE = re.compile(r"^var map_(\w+) = map\[string\]string\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r'^\t("(?:[^"\\]|\\.)*"): +("(?:[^"\\]|\\.)*"),', re.MULTILINE)
CALL = re.compile(r'Description: (\w+)\.(\w+)\{\}(?:\.(\w+))?\.SwaggerDoc\(\)\["([^"]*)"\]')
LITERAL = re.compile(r'Description: ("(?:[^"\\]|\\.)*")')


class FieldDocs:
    """The texts of the fields of one Go package."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / GENERATED

    @cached_property
    def _tables(self) -> dict[str, dict[str, str]]:
        text = self._file.read_text(encoding="utf-8")
        return {
            name: {json.loads(key): json.loads(value) for key, value in ENTRY.findall(body)}
            for name, body in TABLE.findall(text)
        }

    def member(self, type_name: str, name: str) -> str:
        """Return the type of a member of a struct of the package."""
        text = (self._file.parent / "types.go").read_text(encoding="utf-8")
        found = re.search(rf"^type {type_name} struct \{{\n(?:.*\n)*?\t{name}\s+\*?(\w+)", text, re.MULTILINE)
        if found is None:
            raise ValueError(f"{type_name} has no member {name}")
        return found[1]

    def text(self, type_name: str, field: str) -> str:
        """Return the text of a field; empty for one that is not in the map, as in Go."""
        return self._tables.get(type_name, {}).get(field, "")


class Descriptions:
    """The text in the `Description` of a column: a literal, or the text of a field."""

    def __init__(self, imports: dict[str, str], roots: dict[str, Path]) -> None:
        self._packages = {
            alias: FieldDocs(root / path.removeprefix(prefix).lstrip("/"))
            for alias, path in imports.items()
            for prefix, root in roots.items()
            if path.startswith(prefix)
        }

    def of(self, line: str) -> str:
        call = CALL.search(line)
        if call:
            package, type_name, member, field = call.groups()
            docs = self._packages[package]
            return docs.text(docs.member(type_name, member) if member else type_name, field)
        literal = LITERAL.search(line)
        text: str = json.loads(literal[1]) if literal else ""
        return text
