"""Selectors as attributes of a request: the requirements that narrow a list, a watch or a deletion of many.

The grammar is the extension's, which selects by them (`rust/store/src/view/labels.rs`, `fields.rs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

from hydrofoil import engine
from hydrofoil.request import NO_SELECTION, RequestInfo, Requirement, Selection

SELECTING = frozenset(("list", "watch", "deletecollection"))
"""The verbs whose selectors count (apiserver `pkg/endpoints/request/requestinfo.go`)."""
Found = list[tuple[str, str, list[str]]] | None


def selection(info: RequestInfo) -> Selection:
    """Return the selectors of a request as authorizers see them; one that cannot be parsed counts as none."""
    found = info.selection
    if found is None:
        found = info.selection = _selection(info)
    return found


def _selection(info: RequestInfo) -> Selection:
    if "elector" not in info.query or not info.resourceful or info.watch_prefix or info.verb not in SELECTING:
        return NO_SELECTION
    given: dict[str, str] = {}
    for key, value in parse_qsl(info.query, keep_blank_values=True):
        given.setdefault(key, value)
    return Selection(
        fields(given.get("fieldSelector", "")) or (),
        _known_requirements(labels(given.get("labelSelector", "")) or ()),
    )


def _known_requirements(requirements: Sequence[Requirement]) -> tuple[Requirement, ...]:
    return tuple(r for r in requirements if r.operator)


def fields(text: str) -> tuple[Requirement, ...] | None:
    """Return the requirements of a field selector; None if it cannot be parsed (apimachinery `fields/selector.go`)."""
    return _requirements(engine.field_requirements(text))


def labels(text: str) -> tuple[Requirement, ...] | None:
    """Return the requirements of a label selector, sorted by key; None if it cannot be parsed (`labels.Parse`).

    A comparison of numbers has the operator "".
    """
    return _requirements(engine.label_requirements(text))


def _requirements(found: Found) -> tuple[Requirement, ...] | None:
    return (
        None if found is None else tuple(Requirement(key, operator, tuple(values)) for key, operator, values in found)
    )


def selection_of_review(attributes: dict[str, Any]) -> tuple[Selection, str]:
    """Return the selectors in the `resourceAttributes` of an access review, and its `evaluationError`.

    Those that cannot be understood are left out and reported (pkg/registry/authorization `util/helpers.go`).
    """
    texts = []
    found: dict[str, tuple[Requirement, ...]] = {}
    for member, parse, read in (("fieldSelector", fields, _field), ("labelSelector", labels, _label)):
        selector = attributes.get(member) or {}
        wanted = selector.get("requirements") or []
        bad = 0
        known: list[Requirement] = []
        if wanted:
            for requirement in wanted:
                try:
                    known.append(read(requirement))
                except ValueError:
                    bad += 1
        elif raw := selector.get("rawSelector"):
            parsed = parse(raw)
            bad = parsed is None
            known = list(parsed or ())
        if bad:
            partly = "partially " if known else ""
            texts.append(f"spec.resourceAttributes.{member} {partly}ignored due to parse error")
        found[member] = _known_requirements(known)
    return Selection(found["fieldSelector"], found["labelSelector"]), "; ".join(texts)


def _field(requirement: dict[str, Any]) -> Requirement:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    if operator not in ("In", "NotIn") or len(values) != 1:
        raise ValueError
    return Requirement(requirement.get("key", ""), operator, tuple(values))


def _label(requirement: dict[str, Any]) -> Requirement:
    key, operator, values = requirement.get("key", ""), requirement.get("operator", ""), requirement.get("values") or []
    if not engine.is_label_requirement(key, operator, values):
        raise ValueError
    return Requirement(key, operator, tuple(values))


def encode_requirements(requirements: Sequence[Requirement]) -> list[dict[str, Any]]:
    """Return requirements as reviews have them."""
    return [
        {"key": r.key, "operator": r.operator, **({"values": list(r.values)} if r.values else {})} for r in requirements
    ]
