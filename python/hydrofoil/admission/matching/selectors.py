"""Label selectors, compiled (apimachinery `meta/v1.LabelSelectorAsSelector`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Labels = Mapping[str, str]


class LabelSelector:
    """A selector of labels; without terms it selects everything."""

    __slots__ = ("_expressions", "_labels", "empty")

    def __init__(self, raw: dict[str, Any] | None) -> None:
        raw = raw or {}
        self._labels: dict[str, str] = raw.get("matchLabels") or {}
        self._expressions = tuple(
            (term["key"], term["operator"], frozenset(term.get("values") or ()))
            for term in raw.get("matchExpressions") or ()
        )
        self.empty = not self._labels and not self._expressions

    def matches(self, labels: Labels) -> bool:
        """Report whether it selects labels."""
        for key, value in self._labels.items():
            if labels.get(key) != value:
                return False
        return all(_holds(labels, *term) for term in self._expressions)


def _holds(labels: Labels, key: str, operator: str, values: frozenset[str]) -> bool:
    match operator:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels
