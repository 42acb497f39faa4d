"""The data of each release, read from the files of this package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import orjson
from msgspec import Struct, convert


class ReleaseData(Struct, frozen=True):
    """The facts about one minor version."""

    gates: dict[str, tuple[str, bool, bool]]
    """Stage (empty: generally available), default and lock of each feature gate."""
    dependencies: dict[str, list[str]]
    """The gates that a gate depends on."""
    resources: dict[str, str]
    """By `group/plural`: the gate that a resource needs (kubernetes `pkg/registry/*/rest`)."""
    warnings: dict[str, str]
    """By `group/plural`: the warning of a resource whose version is current (`DeprecatedSince` of registries)."""


@cache
def minors() -> tuple[int, ...]:
    """Return the known minor versions, the oldest first."""
    names = (entry.name for entry in files(__package__).iterdir())
    return tuple(sorted(int(name[2:-5]) for name in names if name.startswith("1.") and name.endswith(".json")))


@cache
def load(minor: int) -> ReleaseData:
    """Return the data of a known minor version: that of the newest, changed by each difference down to it."""
    merged: dict[str, dict[str, Any]] = {name: {} for name in ReleaseData.__struct_fields__}
    for step in reversed([known for known in minors() if known >= minor]):
        raw = orjson.loads((files(__package__) / f"1.{step}.json").read_bytes())
        for name, entries in merged.items():
            entries.update(raw.get(name, {}))
    return convert(merged, ReleaseData)
