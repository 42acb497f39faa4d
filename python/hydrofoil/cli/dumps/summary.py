"""What an import has done: numbers, and a line on each object that it could not take."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.cli.failure import WRONG
from hydrofoil.dumps.object import Broken, DumpedObject

SHOWN = 20
"""The lines that a person sees of each kind."""


class Summary:
    """The counts of one import."""

    def __init__(self) -> None:
        self.read = 0
        self.created = 0
        self.updated = 0
        self.unchanged = 0
        self.skipped: list[dict[str, Any]] = []
        self.failed: list[dict[str, Any]] = []

    def skip(self, found: DumpedObject, reason: str) -> None:
        """Record an object, or a part of it, that was not taken, and why."""
        self.skipped.append(found.describe(reason))

    def fail(self, found: DumpedObject | Broken, reason: str = "") -> None:
        """Record an object that was refused or cannot be read."""
        self.failed.append(found.describe() if isinstance(found, Broken) else found.describe(reason))

    def count(self, found: DumpedObject, outcome: str, reason: str = "") -> None:
        """Record the outcome of an object, by its name in the summary."""
        if outcome == "skipped":
            self.skip(found, reason)
        elif outcome == "failed":
            self.fail(found, reason)
        else:
            setattr(self, outcome, getattr(self, outcome) + 1)

    @property
    def code(self) -> int:
        """Return the exit code."""
        return WRONG if self.skipped or self.failed else 0

    def json(self, seconds: float) -> bytes:
        """Return the summary as one line of JSON."""
        return orjson.dumps({**vars(self), "seconds": round(seconds, 3)}) + b"\n"

    def text(self, seconds: float) -> str:
        """Return the same for people."""
        numbers = ", ".join(f"{getattr(self, name)} {name}" for name in ("read", "created", "updated", "unchanged"))
        lines = [f"{numbers}, {len(self.skipped)} skipped, {len(self.failed)} failed in {seconds:.1f} s"]
        for word, entries in (("skipped", self.skipped), ("failed", self.failed)):
            for entry in entries[:SHOWN]:
                name = "/".join(filter(None, (entry["namespace"], entry["name"])))
                what = " ".join(filter(None, (entry["kind"], name)))
                lines.append(f"{word}: {entry['source']}:{entry['line']}: {what}: {entry['reason']}")
            if len(entries) > SHOWN:
                lines.append(f"{word}: and {len(entries) - SHOWN} more (--json shows all)")
        return "".join("".join(c if c.isprintable() else "?" for c in line) + "\n" for line in lines)
