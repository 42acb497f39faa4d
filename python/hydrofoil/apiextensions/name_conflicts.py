"""Accepted names of definitions, and conflicts between them (`pkg/controller/status/naming_controller.go`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.apiextensions.conditions import Change, Condition, Definition, established_condition, put, same
from hydrofoil.apiextensions.resources import condition, holds
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft

Taken = tuple[set[str], set[str]]
"""The names of resources and of kinds that are in use in a group."""
NAMES = (
    ("plural", 0, "PluralConflict"),
    ("singular", 0, "SingularConflict"),
    ("shortNames", 0, "ShortNamesConflict"),
    ("kind", 1, "KindConflict"),
    ("listKind", 1, "ListKindConflict"),
)
"""Each name, the set in which it must be free, and the reason if it is not; the last clash is the one reported."""


def _clash(wanted: Any, own: Any, used: set[str]) -> str:
    """Return the reason that a name, or one of a list of names, is taken; empty if none is."""
    if isinstance(wanted, list):
        texts = [text for name in wanted if name not in (own or ()) and (text := _clash(name, "", used))]
        return texts[0] if len(texts) < 2 and texts else f"[{', '.join(texts)}]" if texts else ""
    return f'"{wanted}" is already in use' if wanted != own and wanted in used else ""


ACCEPTED: Condition = ("NamesAccepted", "True", "NoConflicts", "no conflicts found")


def names(definition: Definition, taken: Taken) -> Change | None:
    """Return the change of the accepted names (`calculateNamesAndConditions`); None if they are unchanged."""
    wanted, before = definition["spec"]["names"], definition.get("status", {}).get("acceptedNames", {})
    accepted = {k: v for k, v in before.items() if v}
    verdict = ACCEPTED
    for key, which, reason in NAMES:
        if why := _clash(wanted.get(key), before.get(key), taken[which]):
            verdict = ("NamesAccepted", "False", reason, why)
        else:
            accepted[key] = wanted.get(key)
    accepted["categories"] = wanted.get("categories")
    accepted = {k: v for k, v in accepted.items() if v}
    if same(definition, verdict) and accepted == {k: v for k, v in before.items() if v}:
        return None
    refused = verdict[1] == "False"
    reported = condition(definition, "Established")

    def change(draft: Draft, clock: Clock) -> None:
        draft.set(["status", "acceptedNames"], orjson.dumps(accepted))
        put(draft, verdict, clock)
        if reported is None and refused:
            put(draft, ("Established", "False", "NotAccepted", "not all names are accepted"), clock)
        elif not refused and not holds(definition, "Established"):
            put(draft, established_condition(definition), clock)

    return change
