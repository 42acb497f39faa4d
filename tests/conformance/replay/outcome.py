"""The outcome of a comparison: which steps passed, and the lines about those that failed."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Outcome:
    """Steps by their names `FILE/ID`."""

    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """The report: a line for each step that failed, and its differences."""

    def add(self, name: str, differences: list[str], show: int, title: str = "") -> None:
        """Add a step; the first `show` differences are reported."""
        if not differences:
            self.passed.append(name)
            return
        self.failed.append(name)
        self.lines.append(f"FAIL {name}{title}")
        self.lines += [f"     {line}" for line in differences[:show]]
        if 0 < show < len(differences):
            self.lines.append(f"     … {len(differences) - show} more")

    def merge(self, other: Outcome) -> None:
        """Add the steps of another one."""
        self.passed += other.passed
        self.failed += other.failed
        self.lines += other.lines

    def __str__(self) -> str:
        return "\n".join([*self.lines, f"{len(self.passed)} passed, {len(self.failed)} failed"])
