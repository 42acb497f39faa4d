"""Dotted paths in answers: list items by index, `*` for all, `list[key=value]` for the first match, `\\.` for a dot."""

from __future__ import annotations

import re
from typing import Any

Object = dict[str, Any]
PART = re.compile(r"(?:\\.|\[[^\]]*\]|[^.\\\[])+")
CHOICE = re.compile(r"(.+)\[([\w.]+)=(.*)\]")


def split(path: str) -> list[str]:
    """Return the parts of a path."""
    return [part.replace("\\.", ".") for part in PART.findall(path)]


def lookup(value: Any, path: str) -> Any:
    """Return the value at a path; None where there is nothing."""
    return walk(value, split(path))


def walk(value: Any, parts: list[str]) -> Any:
    """Return the value below the parts of a path; None where there is nothing."""
    if not parts:
        return value
    head, rest = parts[0], parts[1:]
    if choice := CHOICE.fullmatch(head):
        items = value.get(choice[1]) if isinstance(value, dict) else None
        matches = [item for item in items or [] if str(lookup(item, choice[2])) == choice[3]]
        return walk(matches[0], rest) if matches else None
    if isinstance(value, list):
        if head == "*":
            return [walk(item, rest) for item in value]
        return walk(value[int(head)], rest) if head.isdigit() and int(head) < len(value) else None
    if isinstance(value, dict):
        if head == "*":
            return {key: walk(item, rest) for key, item in value.items()}
        return walk(value[head], rest) if head in value else None
    return None


def drop(value: Any, parts: list[str]) -> None:
    """Remove the value below the parts of a path.

    An item of a list becomes `<ignored>`, so that the list keeps its length.
    """
    head, rest = parts[0], parts[1:]
    if isinstance(value, list):
        chosen = value if head == "*" else value[int(head) : int(head) + 1] if head.isdigit() else []
        if rest:
            for item in chosen:
                drop(item, rest)
        elif head.isdigit() and int(head) < len(value):
            value[int(head)] = "<ignored>"
    elif isinstance(value, dict):
        for key in list(value) if head == "*" else [head] if head in value else []:
            if rest:
                drop(value[key], rest)
            else:
                del value[key]


def member(answer: Object, name: str) -> Any:
    """Return `status`, `headers...` or `body...` of an answer; any other name is a path in the body."""
    head = name.split(".", maxsplit=1)[0]
    if name == "status" or head in ("headers", "body"):
        return lookup(answer, name)
    return lookup(answer["body"], name)
