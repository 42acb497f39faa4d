"""Selectors of labels in objects, as texts."""

from __future__ import annotations

from typing import Any


def format_label_selector(selector: dict[str, Any]) -> str:
    """Return a LabelSelector as a text (`metav1.FormatLabelSelector`)."""
    parts = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for term in selector.get("matchExpressions") or ():
        key, values = term["key"], ",".join(sorted(term.get("values") or ()))
        match term["operator"]:
            case "In":
                parts.append(f"{key} in ({values})")
            case "NotIn":
                parts.append(f"{key} notin ({values})")
            case "Exists":
                parts.append(key)
            case _:
                parts.append(f"!{key}")
    return ",".join(parts)
