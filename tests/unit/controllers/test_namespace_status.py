"""Conditions of a namespace that is being deleted."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hydrofoil.controllers.namespace_status import CONTENT, FINE, REMAINING, Findings, conditions


def by_type(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {condition["type"]: condition for condition in found}


def test_conditions_are_added_in_order_and_others_are_kept() -> None:
    other = {"type": "Other", "status": "True", "lastTransitionTime": "then", "reason": "R", "message": "m"}
    found = conditions([other], Findings(), "now")
    assert found[0] == other
    assert [c["type"] for c in found[1:]] == [*FINE]
    assert {c["status"] for c in found[1:]} == {"False"}


def test_the_time_changes_with_the_status_alone() -> None:
    first = conditions([], Findings(remaining=Counter({"configmaps.": 2}), waiting=True), "one")
    second = conditions(first, Findings(remaining=Counter({"configmaps.": 1}), waiting=True), "two")
    third = conditions(second, Findings(), "three")
    assert [by_type(c)[REMAINING]["lastTransitionTime"] for c in (first, second, third)] == ["one", "one", "three"]
    assert by_type(second)[REMAINING]["message"].endswith("configmaps. has 1 resource instances")
    assert {c["lastTransitionTime"] for c in third if c["type"] != REMAINING} == {"one"}


def test_failures_are_sorted_and_counted() -> None:
    found = by_type(conditions([], Findings(failures=["b", "a"]), "now"))[CONTENT]
    assert (found["status"], found["reason"]) == ("True", "ContentDeletionFailed")
    assert found["message"] == "Failed to delete all resource types, 2 remaining: a, b"
