"""Registrations in Go's schemes: kinds by group version, including those that are no longer served."""

from __future__ import annotations

import re
from pathlib import Path

from .model import Json
from .modules import Modules

GROUP = re.compile(r'GroupName\s*=\s*"([^"]*)"')
VERSION = re.compile(r'Version: "([^"]+)"')
KIND = re.compile(r"&(\w+)\{\}")
INTERNAL = {"events.k8s.io": "core"}
"""Groups whose kinds have their internal types in another group's package."""


def registered(modules: Modules) -> Json:
    """Return the kinds of each group version, and the package of each group's internal types, by scheme."""
    roots = {
        "": modules.api,
        "apiextensions.k8s.io": modules.apiextensions / "pkg" / "apis",
        "apiregistration.k8s.io": modules.aggregator / "pkg" / "apis",
    }
    kinds: dict[str, dict[str, str]] = {}
    packages: dict[str, str] = {}
    for scheme, root in roots.items():
        kinds[scheme] = {}
        for file in sorted(root.glob("*/*/register.go")):
            text = file.read_text(encoding="utf-8")
            version = VERSION.search(text)
            if version is None:
                continue
            group = group_of(file, text)
            name = f"{group}/{version[1]}" if group else version[1]
            kinds[scheme][name] = " ".join(sorted(KIND.findall(text)))
            packages[group] = INTERNAL.get(group, file.parent.parent.name)
    return {"kinds": kinds, "packages": packages}


def group_of(file: Path, text: str) -> str:
    """Return the name of a group: in the file itself, or in that of its internal types."""
    found = GROUP.search(text) or GROUP.search((file.parent.parent / "register.go").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"no group in {file}")
    return found[1]
