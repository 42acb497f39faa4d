"""Fields that a selector may name, from the field-label conversion functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .columns import GROUPS
from .model import Json

FUNCTION = "AddFieldLabelConversionFunc("
LABEL = re.compile(r'"([a-zA-Z]+(?:\.[a-zA-Z]+)*)"')
MAPPING = re.compile(r'^\s+"([\w.]+)":\s+"([\w.]+)",', re.MULTILINE)
RENAMED = re.compile(r'case "([\w.]+)":\s+return "([\w.]+)"')


def field_selectors(kubernetes: Path, api: Path) -> Iterator[Json]:
    """Group, version, kind, fields in source order and, where names differ, their map."""
    for file in sorted((kubernetes / "pkg" / "apis").glob("*/*/conversion.go")):
        group = GROUPS.get(file.parent.parent.name, file.parent.parent.name)
        version = file.parent.name
        text = file.read_text(encoding="utf-8")
        constants = string_constants(api / file.parent.parent.name / version / "types.go")
        before, *bodies = text.split(FUNCTION)
        for body in bodies:
            kind = re.search(r'WithKind\("(\w+)"\)', body)
            if kind is None:
                continue
            entry: Json = {"group": group, "version": version, "kind": kind[1]}
            if "switch label" in body.split("default:")[0]:
                entry.update(switched(body, constants))
            else:
                mapping = dict(MAPPING.findall(before))
                entry.update(fields=list(mapping), map=mapping)
            yield entry


def switched(body: str, constants: dict[str, str]) -> Json:
    switch = body.split("switch label")[1].partition("default:")[0]
    renamed = dict(RENAMED.findall(switch))
    cases = "\n".join(re.findall(r"case (.*?):\n", switch, re.DOTALL))
    names = [label or constants[constant] for label, constant in re.findall(rf"{LABEL.pattern}|\w+\.(\w+)", cases)]
    return {"fields": list(dict.fromkeys(names)), **({"map": renamed} if renamed else {})}


def string_constants(file: Path) -> dict[str, str]:
    if not file.exists():
        return {}
    text = file.read_text(encoding="utf-8")
    return dict(re.findall(r'^\s*(\w+)\s*=\s*"([^"]*)"', text, re.MULTILINE))
