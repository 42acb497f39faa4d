"""Selectors as attributes of a request: the requirements that narrow a list, a watch or a deletion of many."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl

from hydrofoil.request import NO_SELECTION, RequestInfo, Requirement, Selection

SELECTING = frozenset(("list", "watch", "deletecollection"))
"""The verbs whose selectors count (apiserver `pkg/endpoints/request/requestinfo.go`)."""
_TOKEN = re.compile(r"\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+)")
_SPECIAL = frozenset(("==", "!=", "=", "!", "(", ")", ",", "<", ">"))
_FIELD = re.compile(r"((?:(?!!=|=).)*)(!=|==|=)(.*)", re.DOTALL)
_NAME = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_PREFIX = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_OPERATORS = {
    "=": "In",
    "==": "In",
    "in": "In",
    "!=": "NotIn",
    "notin": "NotIn",
    "<": "",
    ">": "",
}
"""The operators of reviews; those without one are left out."""


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
    found = []
    for term in sorted(_terms(text)):
        if not term:
            continue
        match = _FIELD.fullmatch(term)
        value = None if match is None else _unescape_value(match[3])
        if match is None or value is None:
            return None
        found.append(Requirement(match[1], "NotIn" if match[2] == "!=" else "In", (value,)))
    return tuple(found)


def _terms(text: str) -> Iterator[str]:
    """Split at commas that are not escaped."""
    begun, escaped = 0, False
    for at, c in enumerate(text):
        if escaped:
            escaped = False
        elif c == "\\":
            escaped = True
        elif c == ",":
            yield text[begun:at]
            begun = at + 1
    yield text[begun:]


def _unescape_value(value: str) -> str | None:
    """Return a value without its escapes; None for an invalid one (`UnescapeValue`)."""
    out, escaped = [], False
    for c in value:
        if escaped:
            if c not in "\\,=":
                return None
            escaped = False
        elif c == "\\":
            escaped = True
            continue
        elif c in ",=":
            return None
        out.append(c)
    return None if escaped else "".join(out)


def labels(text: str) -> tuple[Requirement, ...] | None:
    """Return the requirements of a label selector, sorted by key; None if it cannot be parsed (`labels.Parse`).

    A comparison of numbers has the operator "".
    """
    tokens = _TOKEN.findall(text)
    try:
        return tuple(sorted(_Labels(tokens).requirements(), key=lambda requirement: requirement.key))
    except _Invalid:
        return None


class _Invalid(ValueError):
    """A label selector that cannot be parsed."""


class _Labels:
    """The parser of label selectors (apimachinery `labels/selector.go`)."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def _next(self) -> str:
        """Return the next token; empty at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._next()
        self._at += 1
        return token

    def requirements(self) -> Iterator[Requirement]:
        """Yield the requirements. Raise _Invalid."""
        while self._next():
            yield self._requirement()
            if not self._next():
                return
            if self._take() != "," or (self._next() in _SPECIAL and self._next() != "!") or not self._next():
                raise _Invalid

    def _requirement(self) -> Requirement:
        absent = self._next() == "!"
        if absent:
            self._at += 1
        key = self._take()
        if key in _SPECIAL or not is_qualified(key):
            raise _Invalid
        if absent:
            return Requirement(key, "DoesNotExist")
        if self._next() in ("", ","):
            return Requirement(key, "Exists")
        operator = self._take()
        if operator not in _OPERATORS:
            raise _Invalid
        values = self._several() if operator in ("in", "notin") else (self._exact(),)
        return make_requirement(key, _OPERATORS[operator], values, number=operator in ("<", ">"))

    def _exact(self) -> str:
        """Return one value, which may be empty."""
        if self._next() in ("", ","):
            return ""
        value = self._take()
        if value in _SPECIAL:
            raise _Invalid
        return value

    def _several(self) -> tuple[str, ...]:
        """Return the values in brackets, each once and sorted; a missing one between commas is empty."""
        if self._take() != "(":
            raise _Invalid
        values: set[str] = set()
        empty = True
        while (token := self._take()) != ")":
            if token == ",":
                if empty:
                    values.add("")
                empty = True
            elif token in _SPECIAL or not token or not empty:
                raise _Invalid
            else:
                values.add(token)
                empty = False
        if empty and self._tokens[self._at - 2] == ",":
            values.add("")
        return tuple(sorted(values))


def make_requirement(key: str, operator: str, values: tuple[str, ...], *, number: bool = False) -> Requirement:
    """Return a checked requirement on a label (`labels.NewRequirement`). Raise ValueError."""
    wanted = bool(values) if operator in ("In", "NotIn") or number else not values
    if not wanted or not is_qualified(key) or not all(map(is_value, values)):
        raise _Invalid
    if number and not _INTEGER.fullmatch(values[0]):
        raise _Invalid
    return Requirement(key, operator, values)


def is_qualified(key: str) -> bool:
    """Report whether a text is the key of a label (`validation.IsQualifiedName`)."""
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not _PREFIX.fullmatch(prefix)):
        return False
    return len(name) <= 63 and _NAME.fullmatch(name) is not None


def is_value(value: str) -> bool:
    """Report whether a text is the value of a label (`validation.IsValidLabelValue`)."""
    return not value or (len(value) <= 63 and _NAME.fullmatch(value) is not None)


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
        raise _Invalid
    return Requirement(requirement.get("key", ""), operator, tuple(values))


def _label(requirement: dict[str, Any]) -> Requirement:
    operator = requirement.get("operator", "")
    if operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
        raise _Invalid
    return make_requirement(requirement.get("key", ""), operator, tuple(requirement.get("values") or ()))


def encode_requirements(requirements: Sequence[Requirement]) -> list[dict[str, Any]]:
    """Return requirements as reviews have them."""
    return [
        {"key": r.key, "operator": r.operator, **({"values": list(r.values)} if r.values else {})} for r in requirements
    ]
