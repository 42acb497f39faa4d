"""The parts of /metrics that stay the same from run to run: names, types, stability and labels of families."""

from __future__ import annotations

import re
from typing import Any

SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? [^ ]+")
LABEL = re.compile(r'(\w+)="(?:[^"\\]|\\.)*"')
SUFFIX = re.compile(r"_(bucket|sum|count)$")


def families(text: str) -> dict[str, Any]:
    """Return {name: {type, stability, labels}}; labels are the names over all samples, without `le` and `quantile`."""
    found: dict[str, Any] = {}
    for line in text.splitlines():
        word = line.split(" ", 3)
        if line.startswith("# HELP "):
            stability = re.match(r"\[(\w+)", word[3]) if len(word) > 3 else None
            found.setdefault(word[2], {"labels": set()})["stability"] = stability[1] if stability else None
        elif line.startswith("# TYPE "):
            found.setdefault(word[2], {"labels": set()})["type"] = word[3]
        elif match := SAMPLE.match(line):
            name = match[1] if match[1] in found else SUFFIX.sub("", match[1])
            labels = {m[1] for m in LABEL.finditer(match[2] or "")} - {"le", "quantile"}
            found.setdefault(name, {"labels": set()})["labels"] |= labels
    return {name: {**family, "labels": sorted(family["labels"])} for name, family in found.items()}
