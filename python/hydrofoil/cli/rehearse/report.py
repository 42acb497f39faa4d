"""The output of a rehearsal: a table for people, or one JSON value."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from hydrofoil.cli.failure import WRONG

Object = dict[str, Any]
SHOWN = 200
"""The rows that a person sees of each kind."""
UNREAD = 20
"""The lines that a person sees on what could not be read."""
WIDEST = 60
"""The widest column in characters, but for the last one."""


class Report:
    """What a rehearsal has found: members of JSON, and rows of a table."""

    def __init__(self, *breaking: str) -> None:
        """Take the members that tell, where they are not empty, that something would break."""
        self._breaking = breaking
        self.content: Object = {}
        self._rows: list[Sequence[str]] = []
        self._lines: list[str] = []

    def add_rows(self, outcome: str, entries: Iterable[Mapping[str, Any]]) -> None:
        """Add a row for each entry: outcome, object, and the lines that `describe` makes of it."""
        shown = list(entries)
        for entry in shown[:SHOWN]:
            first, *more = describe(entry) or [""]
            self._rows.append((outcome, name_of(entry), first))
            self._rows += [("", "", line) for line in more]
        if len(shown) > SHOWN:
            self._rows.append((outcome, f"and {len(shown) - SHOWN} more", "--json shows all"))

    def add_line(self, line: str) -> None:
        """Add a line below the table."""
        self._lines.append(line)

    @property
    def code(self) -> int:
        """Return the exit code."""
        return WRONG if any(self.content.get(name) for name in self._breaking) else 0

    def write(self, *, as_json: bool) -> int:
        """Print it; return the exit code."""
        sys.stdout.write(self.json().decode() if as_json else self.text())
        return self.code

    def json(self) -> bytes:
        """Return it as one line of JSON."""
        return orjson.dumps(self.content) + b"\n"

    def text(self) -> str:
        """Return the table and the lines below it."""
        rows = [("OUTCOME", "OBJECT", "DETAIL"), *self._rows] if self._rows else []
        widths = [min(max((len(row[at]) for row in rows), default=0), WIDEST) for at in range(2)]
        lines = [f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}".rstrip() for row in rows]
        return "".join("".join(c if c.isprintable() else "?" for c in line) + "\n" for line in [*lines, *self._lines])


def tell_of_unread(report: Report, problems: Sequence[str]) -> None:
    """Add a line for each object that the copy could not take."""
    for problem in problems[:UNREAD]:
        report.add_line(f"not read: {problem}")
    if len(problems) > UNREAD:
        report.add_line(f"not read: and {len(problems) - UNREAD} more (--json shows all)")


def name_of(entry: Mapping[str, Any]) -> str:
    """Return an object as kubectl names it: `deployment.apps/web -n shop`."""
    group = str(entry.get("apiVersion") or "").rpartition("/")[0]
    kind = str(entry.get("kind") or "").lower()
    found = f"{kind}.{group}" if group else kind
    name = str(entry.get("name") or "")
    if entry.get("subject"):
        name = str(entry["subject"])
    if name:
        found = f"{found}/{name}" if found else name
    return f"{found} -n {entry['namespace']}" if entry.get("namespace") else found


def describe(entry: Mapping[str, Any]) -> list[str]:
    """Return the lines on an entry of a report."""
    found = [str(entry["reason"])] if entry.get("reason") else []
    if entry.get("operation"):
        found = [f"{entry['operation']}: {found[0] if found else ''}"]
    found += [f"{one['field']}: {value(one, 'before')} -> {value(one, 'after')}" for one in entry.get("diff") or ()]
    found += [f"{one['field']}: owned by {one['manager']}" for one in entry.get("conflicts") or ()]
    if entry.get("fields"):
        found.append(", ".join(entry["fields"]))
    return found


def value(difference: Mapping[str, Any], side: str) -> str:
    """Return a value of a difference as JSON; `-` where there is none."""
    if side not in difference:
        return "-"
    text = orjson.dumps(difference[side]).decode()
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."
