"""Rules of roles, and which of them cover others (component-helpers `auth/rbac/validation`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from hydrofoil.go_text import quote_slice

Texts = tuple[str, ...]


class Rule(Struct, frozen=True):
    """One rule of a role (rbac/v1 PolicyRule)."""

    verbs: Texts = ()
    groups: Texts = ()
    resources: Texts = ()
    names: Texts = ()
    urls: Texts = ()

    def shown(self) -> dict[str, list[str]]:
        """Return the rule as JSON, without empty members."""
        members = {
            "verbs": self.verbs,
            "apiGroups": self.groups,
            "resources": self.resources,
            "resourceNames": self.names,
            "nonResourceURLs": self.urls,
        }
        return {name: list(values) for name, values in members.items() if values}

    def text(self) -> str:
        """Return the rule as refusals show it (`CompactString`)."""
        members = (
            ("APIGroups", self.groups),
            ("Resources", self.resources),
            ("NonResourceURLs", self.urls),
            ("ResourceNames", self.names),
            ("Verbs", self.verbs),
        )
        return "{" + ", ".join(f"{name}:{quote_slice(values)}" for name, values in members if values) + "}"


FULL = (Rule(("*",), ("*",), ("*",)), Rule(("*",), urls=("*",)))
"""All rights."""


def read(rules: Iterable[dict[str, Any]] | None) -> tuple[Rule, ...]:
    """Read the rules in the JSON of a role."""
    return tuple(map(read_one, rules or ()))


def read_one(rule: dict[str, Any]) -> Rule:
    """Read one rule."""
    names = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    return Rule(*(tuple(rule.get(name) or ()) for name in names))


def pieces(rule: Rule) -> list[Rule]:
    """Return a rule as rules of one verb with one resource and name, or one URL (`BreakdownRule`)."""
    names: Sequence[Texts] = [(name,) for name in rule.names] or [()]
    found = [
        Rule((verb,), (group,), (resource,), name)
        for group in rule.groups
        for resource in rule.resources
        for verb in rule.verbs
        for name in names
    ]
    return found + [Rule((verb,), urls=(url,)) for url in rule.urls for verb in rule.verbs]


def missing(owned: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """Return the pieces of rules that no owned rule covers (`Covers`)."""
    return [piece for rule in wanted for piece in pieces(rule) if not any(covers(own, piece) for own in owned)]


def covers(own: Rule, piece: Rule) -> bool:
    """Report whether a rule covers a piece of another (`ruleCovers`)."""
    if "*" not in own.verbs and not {*piece.verbs} <= {*own.verbs}:
        return False
    if "*" not in own.groups and not {*piece.groups} <= {*own.groups}:
        return False
    if piece.names and own.names and not {*piece.names} <= {*own.names}:
        return False
    if own.names and not piece.names:
        return False
    return _resources_cover(own.resources, piece.resources) and all(
        any(_url_covers(url, wanted) for url in own.urls) for wanted in piece.urls
    )


def _resources_cover(own: Texts, wanted: Texts) -> bool:
    if "*" in own:
        return True
    for resource in wanted:
        if resource not in own:
            _, slash, sub = resource.partition("/")
            if not slash or f"*/{sub}" not in own:
                return False
    return True


def _url_covers(own: str, wanted: str) -> bool:
    return own == wanted or (own.endswith("*") and wanted.startswith(own.rstrip("*")))


def compact(rules: Iterable[Rule]) -> list[Rule]:
    """Join the verbs of rules that differ in nothing else (`CompactRules`)."""
    kept: list[Rule] = []
    simple: dict[tuple[Texts, Texts, Texts], list[str]] = {}
    for rule in rules:
        if rule.urls or len(rule.names) > 1 or len(rule.groups) != 1 or len(rule.resources) != 1:
            kept.append(rule)
        else:
            simple.setdefault((rule.groups, rule.resources, rule.names), []).extend(rule.verbs)
    return kept + [Rule(tuple(verbs), *key) for key, verbs in simple.items()]
