"""Selectors in access reviews: invalid ones are ignored and reported."""

from __future__ import annotations

from typing import Any

from hydrofoil import engine
from hydrofoil.endpoints.context import Context


def ignored(context: Context, attributes: dict[str, Any]) -> str:
    """Return the `evaluationError` of a review: invalid selectors are ignored.

    The source is pkg/registry/authorization `util/helpers.go`.
    """
    texts = []
    for kind, read in (("fieldSelector", _field), ("labelSelector", _label)):
        selector = attributes.get(kind) or {}
        wanted = selector.get("requirements") or []
        understood = [read(context, requirement) for requirement in wanted]
        if not wanted and selector.get("rawSelector"):
            understood = [_raw(context, kind, selector["rawSelector"])]
        if not all(understood):
            partly = "partially " if any(understood) else ""
            texts.append(f"spec.resourceAttributes.{kind} {partly}ignored due to parse error")
    return "; ".join(texts)


def _field(_: Context, requirement: dict[str, Any]) -> bool:
    return requirement.get("operator") in ("In", "NotIn") and len(requirement.get("values") or ()) == 1


def _label(context: Context, requirement: dict[str, Any]) -> bool:
    key, values = requirement.get("key", ""), requirement.get("values") or []
    match requirement.get("operator"):
        case "In" | "NotIn" if values:
            word = "in" if requirement["operator"] == "In" else "notin"
            return _raw(context, "labelSelector", f"{key} {word} ({','.join(values)})")
        case "Exists" | "DoesNotExist" if not values:
            return _raw(context, "labelSelector", key)
    return False


def _raw(context: Context, kind: str, text: str) -> bool:
    if kind == "fieldSelector":
        # Any field name is allowed: only the syntax counts.
        return all("=" in term for term in text.split(",") if term)
    try:
        engine.Selector(context.resource.native, "", text, "")
    except ValueError:
        return False
    return True
