"""What an investigation finds: causes, the most likely one first, and what they lead to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Object = dict[str, Any]
REFUSED, STUCK, FAILING, WAITING, CONTEXT, TOLD = range(6)
"""How likely a finding is the cause: a write that is refused, what cannot go on, what fails, what may come by itself,
what follows from causes, and what events tell besides."""
MOST_LINES = 10
WIDE = 320
"""The characters of a line."""


class Findings:
    """Lines by how likely they are the cause, then in the order in which they were found."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}

    def add(self, rank: int, line: str) -> None:
        """Note a finding; of two ranks of one line the more likely one counts."""
        text = " ".join(line.split())
        text = text if len(text) <= WIDE else f"{text[: WIDE - 1]}…"
        self._lines[text] = min(rank, self._lines.get(text, rank))

    @property
    def has_cause(self) -> bool:
        """Report whether something is wrong."""
        return any(rank < CONTEXT for rank in self._lines.values())

    def lines(self) -> list[str]:
        """Return at most ten lines."""
        return sorted(self._lines, key=self._lines.__getitem__)[:MOST_LINES]


def condition(item: Object, kind: str) -> Object:
    """Return a condition of an object; an empty one if it is absent."""
    conditions: Iterable[Object] = (item.get("status") or {}).get("conditions") or ()
    return next((c for c in conditions if c.get("type") == kind), {})


def title(kind: str, item: Object) -> str:
    """Return what a line calls an object."""
    return f"{kind} {item['metadata']['name']}"


def say_reason(found: Object) -> str:
    """Return reason and message of a condition or a state."""
    reason, message = found.get("reason") or "", found.get("message") or ""
    return f"{reason}: {message}" if reason and message else reason or message
