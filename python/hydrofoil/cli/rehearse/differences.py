"""What differs between two states of an object, field by field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]
ASSIGNED = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")
"""Members of metadata that a server assigns."""
ABSENT = object()
PLAIN = re.compile(r"[A-Za-z_][\w-]*")
MASK = "***"


def strip_metadata(content: Object) -> Object:
    """Return an object without what a server assigns."""
    metadata = {name: value for name, value in (content.get("metadata") or {}).items() if name not in ASSIGNED}
    return {**content, "metadata": metadata}


def differences(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the fields whose values differ, each with both: `ABSENT` where there is none.

    >>> list(differences({"a": {"b": 1}, "c": [1]}, {"a": {"b": 2}, "c": [1]}))
    [('.a.b', 1, 2)]
    """
    if before == after:
        # Most of an object, compared at once.
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            yield from differences(before.get(name, ABSENT), after.get(name, ABSENT), f"{path}{member(name)}")
    elif isinstance(before, list) and isinstance(after, list):
        for number in range(max(len(before), len(after))):
            old, new = (side[number] if number < len(side) else ABSENT for side in (before, after))
            yield from differences(old, new, f"{path}[{number}]")
    else:
        yield path, before, after


def member(name: str) -> str:
    """Return a member as in a path."""
    return f".{name}" if PLAIN.fullmatch(name) else f'["{name}"]'


def describe_differences(before: Object, after: Object) -> list[Object]:
    """Return what differs as in a report: without what a server assigns, and without the values of a secret."""
    hides = after.get("kind") == "Secret"
    found = []
    for field, old, new in differences(strip_metadata(before), strip_metadata(after)):
        is_hidden = hides and field.startswith((".data", ".stringData", ".metadata.annotations"))
        sides = {"before": old, "after": new}
        shown = {name: MASK if is_hidden else value for name, value in sides.items() if value is not ABSENT}
        found.append({"field": field, **shown})
    return found


def lost_fields(before: Object, after: Object) -> list[str]:
    """Return the fields that are in the one and not, or not with that value, in the other."""
    sides = strip_metadata(before), strip_metadata(after)
    return [field for field, old, _ in differences(*sides) if old is not ABSENT and field != ".apiVersion"]


def added_fields(before: Object, after: Object) -> list[str]:
    """Return the fields that the second has and the first does not."""
    return [field for field, old, _ in differences(strip_metadata(before), strip_metadata(after)) if old is ABSENT]
