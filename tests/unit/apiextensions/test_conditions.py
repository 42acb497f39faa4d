"""Accepted names and the conditions of a definition."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hydrofoil.apiextensions import conditions, name_conflicts
from hydrofoil.apiextensions.conditions import Definition
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft
from tests.unit.parts import draft, resource

NAMES = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
CLOCK = Clock()


def definition(group: str = "e.com", annotations: dict[str, str] | None = None, **names: Any) -> Definition:
    """A definition that nothing was decided about."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    return {
        "metadata": {"name": f"things.{group}", "annotations": annotations or {}},
        "spec": {"group": group, "scope": "Namespaced", "names": {**NAMES, **names}, "versions": [version]},
    }


def applied(change: conditions.Change | None, body: Definition) -> Definition:
    """A definition after a change of its status."""
    assert change is not None
    made: Draft = draft(resource("customresourcedefinitions", "apiextensions.k8s.io"), body)
    change(made, CLOCK)
    found: Definition = json.loads(made.json())
    return found


def stated(body: Definition) -> dict[str, tuple[str, str]]:
    """Status and reason of each condition."""
    return {c["type"]: (c["status"], c["reason"]) for c in body["status"]["conditions"]}


def test_free_names_are_accepted_and_the_definition_is_established() -> None:
    """CRD-08: names first, then `Established`."""
    body = applied(name_conflicts.names(definition(), (set(), set())), definition())
    assert body["status"]["acceptedNames"] == NAMES
    assert stated(body) == {
        "NamesAccepted": ("True", "NoConflicts"),
        "Established": ("True", "InitialNamesAccepted"),
    }
    assert name_conflicts.names(body, (set(), set())) is None


@pytest.mark.parametrize(
    ("taken", "reason", "left"),
    [
        (({"things"}, set()), "PluralConflict", "plural"),
        (({"thing"}, set()), "SingularConflict", "singular"),
        ((set(), {"Thing"}), "KindConflict", "kind"),
        ((set(), {"ThingList"}), "ListKindConflict", "listKind"),
    ],
)
def test_a_name_in_use_is_not_accepted(taken: name_conflicts.Taken, reason: str, left: str) -> None:
    body = applied(name_conflicts.names(definition(), taken), definition())
    assert stated(body) == {"NamesAccepted": ("False", reason), "Established": ("False", "NotAccepted")}
    accepted = body["status"]["acceptedNames"]
    assert {key for key in NAMES if not accepted.get(key)} == {left}


def test_short_names_in_use_are_all_named() -> None:
    given = definition(shortNames=["a", "b", "c"])
    body = applied(name_conflicts.names(given, ({"a", "c"}, set())), given)
    (found,) = (c["message"] for c in body["status"]["conditions"] if c["type"] == "NamesAccepted")
    assert found == '["a" is already in use, "c" is already in use]'


def test_an_own_name_is_never_in_use() -> None:
    body = applied(name_conflicts.names(definition(), (set(), set())), definition())
    assert name_conflicts.names(body, ({"things", "thing"}, {"Thing", "ThingList"})) is None


@pytest.mark.parametrize(
    ("annotation", "wanted"),
    [
        (None, ("False", "MissingAnnotation")),
        ("unapproved, testing", ("False", "UnapprovedAnnotation")),
        ("https://github.com/kubernetes/x/pull/1", ("True", "ApprovedAnnotation")),
        ("yes", ("False", "InvalidAnnotation")),
    ],
)
def test_a_protected_group_needs_an_approval(annotation: str | None, wanted: tuple[str, str]) -> None:
    given = definition("x.k8s.io", {conditions.APPROVAL: annotation} if annotation else None)
    body = applied(conditions.approval(given), given)
    assert stated(body)["KubernetesAPIApprovalPolicyConformant"] == wanted


def test_other_groups_need_none() -> None:
    assert conditions.approval(definition()) is None


def test_the_time_of_a_condition_is_that_of_its_last_change_of_status() -> None:
    made = draft(resource("customresourcedefinitions", "apiextensions.k8s.io"), definition())
    old = {"type": "A", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z", "reason": "R", "message": "m"}
    made.set(["status", "conditions"], json.dumps([old]).encode())
    conditions.put(made, ("A", "True", "S", "n"), CLOCK)
    (same,) = json.loads(made.json())["status"]["conditions"]
    assert (same["reason"], same["lastTransitionTime"]) == ("S", "2020-01-01T00:00:00Z")
    conditions.put(made, ("A", "False", "S", "n"), CLOCK)
    (changed,) = json.loads(made.json())["status"]["conditions"]
    assert changed["lastTransitionTime"] > "2025"
