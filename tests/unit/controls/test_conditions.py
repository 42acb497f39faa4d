"""Conditions of objects: words, kubectl's forms, and functions."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.controls.conditions import check_condition, condition_text, holds, phrase

READY = {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Starting"}, {"type": "Up"}]}}


@pytest.mark.parametrize(
    ("condition", "state", "expected"),
    [
        ("exists", {}, True),
        ("create", {}, True),
        ("exists", None, False),
        ("deleted", None, True),
        ("delete", None, True),
        ("deleted", {}, False),
        ("Ready", READY, False),
        ("Ready=False", READY, True),
        ("ready=false", READY, True),
        ("condition=Ready", READY, False),
        ("condition=Ready=False", READY, True),
        ("condition=example.com/Up=True", READY, False),
        ("Missing", READY, False),
        ("Ready", {"status": "odd"}, False),
        ("jsonpath={.spec.replicas}=3", {"spec": {"replicas": 3}}, True),
        ("jsonpath={.spec.replicas}=2", {"spec": {"replicas": 3}}, False),
        ("jsonpath='{.status.phase}'=Running", {"status": {"phase": "Running"}}, True),
        ("jsonpath={.status.ready}=true", {"status": {"ready": True}}, True),
        ('jsonpath={.status.conditions[?(@.type=="Ready")].status}=False', READY, True),
        ("jsonpath={.status.phase}", READY, False),
        ("jsonpath={.status.conditions[0]}", READY, True),
        (lambda state: "status" in state, READY, True),
        (bool, None, False),
    ],
)
def test_conditions(condition: object, state: object, expected: bool) -> None:
    check_condition(condition)  # type: ignore[arg-type]
    assert holds(condition, state) is expected  # type: ignore[arg-type]


WRONG = ["", "is ready", "Ready=Yes", "condition=", "condition=Ready=", "Ready=", "=True", "jsonpth={.a}"]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_text_that_is_no_condition_is_refused(wrong: str) -> None:
    """It would be waited for until the end of the time (newcomer 4)."""
    with pytest.raises(ValueError, match=r"no condition .*: it is one of exists, deleted"):
        check_condition(wrong)


@pytest.mark.parametrize(
    "condition",
    [
        lambda o: o["status"]["ready"],
        lambda o: o["status"]["conditions"][3],
        lambda o: o.get("status")["ready"],
    ],
)
def test_a_member_that_is_absent_is_not_there_yet(condition: Any) -> None:
    assert holds(condition, {"spec": {}}) is False


def test_another_error_of_a_function_is_its_own() -> None:
    with pytest.raises(TypeError):
        holds(lambda o: o + 1, {})  # type: ignore[operator]


def anything(_: dict[str, Any]) -> bool:
    return True


def test_a_function_is_named_by_its_source() -> None:
    condition = lambda o: o["spec"]["replicas"] == 3  # noqa: E731
    assert condition_text(condition) == 'lambda o: o["spec"]["replicas"] == 3'
    names = [condition_text(lambda o: len(o) > (1, 2)[0]), condition_text(anything), condition_text("Ready")]
    assert names == ["lambda o: len(o) > (1, 2)[0]", "anything", "Ready"]


def test_what_was_waited_for_in_vain() -> None:
    assert phrase("exists") == "did not exist" and phrase("delete") == "was not deleted"
    assert phrase("Ready") == "was not Ready" and phrase("lambda o: o") == "did not meet `lambda o: o`"
    assert phrase("<lambda>") == "did not meet `<lambda>`", "a function without a source"


def test_a_path_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="array"):
        check_condition("jsonpath={.status[}=a")
