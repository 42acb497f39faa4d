"""The class of what names none."""

from __future__ import annotations

import orjson

from hydrofoil.engine import Draft
from hydrofoil.registry.objects import Objects


def default_class(objects: Objects, group: str, plural: str, marks: tuple[str, ...]) -> str | None:
    """The class that one of the annotations marks: the newest, and of those the first by name."""
    classes = objects.catalog.find(group, "v1", plural)
    if classes is None:
        return None
    marked = []
    for stored in objects.all(classes):
        meta = orjson.loads(stored.json)["metadata"]
        if any(meta.get("annotations", {}).get(mark) == "true" for mark in marks):
            marked.append(meta)
    marked.sort(key=lambda m: str(m["name"]))
    marked.sort(key=lambda m: str(m["creationTimestamp"]), reverse=True)
    return marked[0]["name"] if marked else None


def annotations_of(draft: Draft) -> dict[str, str]:
    """The annotations of what is written."""
    found: dict[str, str] = orjson.loads(draft.get(["metadata", "annotations"]) or b"{}")
    return found
