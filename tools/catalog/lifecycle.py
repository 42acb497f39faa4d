"""Releases in which a type appeared, was deprecated and went away."""

from __future__ import annotations

import re

from .gotypes import GoTypes
from .model import Json

SOURCE = "zz_generated.prerelease-lifecycle.go"
RELEASE = re.compile(
    r"func \(in \*(\w+)\) APILifecycle(Introduced|Deprecated|Removed)\(\) \(major, minor int\) \{"
    r"\s+return (\d+), (\d+)"
)
REPLACEMENT = re.compile(
    r"func \(in \*(\w+)\) APILifecycleReplacement\(\) schema\.GroupVersionKind \{\s+"
    r'return schema\.GroupVersionKind\{Group: "([^"]*)", Version: "([^"]*)", Kind: "([^"]*)"'
)


def lifecycle_facts(go: GoTypes) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for package in go.packages.values():
        file = package.directory / SOURCE
        if not file.exists():
            continue
        text = file.read_text(encoding="utf-8")
        for kind, event, major, minor in RELEASE.findall(text):
            facts = found.setdefault(package.name_of(kind), {})
            facts[event.lower()] = f"{major}.{minor}"
        for kind, *replacement in REPLACEMENT.findall(text):
            found.setdefault(package.name_of(kind), {})["replacement"] = replacement
    return found
