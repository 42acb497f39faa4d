"""Conditions of objects, and the words of a wait that ended."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from hydrofoil.controls.waiting import WaitTimeout, condition_text, holds, split

READY = {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Starting"}, {"type": "Up"}]}}


@pytest.mark.parametrize(
    ("condition", "state", "expected"),
    [
        ("exists", {}, True),
        ("exists", None, False),
        ("deleted", None, True),
        ("deleted", {}, False),
        ("Ready", READY, False),
        ("Ready=False", READY, True),
        ("ready=false", READY, True),
        ("Missing", READY, False),
        ("Ready", {"status": "odd"}, False),
        (lambda state: "status" in state, READY, True),
        (bool, None, False),
    ],
)
def test_conditions(condition: object, state: object, expected: bool) -> None:
    assert holds(condition, state) is expected  # type: ignore[arg-type]


def holds_anything(_: dict[str, Any]) -> bool:
    return True


def test_names() -> None:
    assert split("deployments.apps/web") == ("deployments.apps", "web")
    for wrong in ("pods", "pods/", "/a", "a/b/c"):
        with pytest.raises(ValueError, match="no object"):
            split(wrong)
    assert condition_text("Ready") == "Ready" and condition_text(holds_anything) == "holds_anything"


def test_the_words_of_a_wait() -> None:
    state = {"metadata": {"resourceVersion": "7", "deletionTimestamp": "t", "finalizers": ["f"]}, **READY}
    error = WaitTimeout("pods/p", "default", "Ready", 10, [None, state])
    want = "pods/p in namespace default was not Ready within 10 s: it was deleted; then it was at version 7, "
    assert str(error) == f"{want}being deleted since t (finalizers: f), conditions Ready=False (Starting), Up=None"
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.states == error.states and isinstance(again, TimeoutError)
