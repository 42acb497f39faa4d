"""How long each layer of the tests took: its tests, and the seconds in them over all processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

HEAD = f"{'layer':12}{'tests':>8}{'seconds':>10}"


@dataclass
class Layer:
    """The tests of a folder, and the seconds of their set-up, call and end."""

    tests: set[str] = field(default_factory=set)
    seconds: float = 0.0


def layer_of(name: str) -> str:
    """Return the folder of a test below `tests`, by the name of the test; empty for others."""
    parts = name.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "tests" else ""


def layers(reports: Iterable[pytest.TestReport]) -> dict[str, Layer]:
    """Return the layers of some reports; several reports concern one test."""
    found: dict[str, Layer] = {}
    for report in reports:
        if name := layer_of(report.nodeid):
            layer = found.setdefault(name, Layer())
            layer.tests.add(report.nodeid)
            layer.seconds += report.duration
    return found


def table(found: dict[str, Layer], wall: float) -> list[str]:
    """Return lines, the longest layer first, and the wall time of all."""
    rows = sorted(found.items(), key=lambda entry: -entry[1].seconds)
    lines = [f"{name:12}{len(layer.tests):8}{layer.seconds:10.0f}" for name, layer in rows]
    count = sum(len(layer.tests) for layer in found.values())
    return [HEAD, *lines, f"{'wall time':12}{count:8}{wall:10.0f}"]
