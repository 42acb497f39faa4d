"""Which rule of an audit policy applies."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.audit.level import METADATA, NONE, REQUEST, RESPONSE, UNRECORDED, Chosen
from hydrofoil.audit.policy import GroupResources, Policy, Rule
from hydrofoil.request import User, parse

ANN = User("ann", groups=("crew", "all"))
CHOSEN = Chosen(METADATA)


def resources(*names: str, group: str = "", objects: tuple[str, ...] = ()) -> Any:
    return (GroupResources(group, frozenset(names), frozenset(objects)),)


def matches(rule: Rule, target: str, method: str = "GET", user: User | None = ANN) -> bool:
    return rule.matches(user, parse(method, target))


POD = "/api/v1/namespaces/n/pods/p"
LOG = f"{POD}/log"


@pytest.mark.parametrize(
    ("given", "target", "expected"),
    [
        ({}, POD, True),
        ({"users": {"ann"}}, POD, True),
        ({"users": {"bob"}}, POD, False),
        ({"groups": {"crew", "x"}}, POD, True),
        ({"groups": {"x"}}, POD, False),
        ({"verbs": {"get"}}, POD, True),
        ({"verbs": {"list"}}, POD, False),
        ({"namespaces": {"n"}}, POD, True),
        ({"namespaces": {""}}, POD, False),
        ({"namespaces": {""}}, "/api/v1/nodes", True),
        ({"namespaces": {"n"}}, "/api/v1/namespaces/n", True),
        ({"namespaces": {"n"}}, "/version", False),
        ({"resources": resources()}, POD, True),
        ({"resources": resources(group="apps")}, POD, False),
        ({"resources": resources(group="*")}, POD, True),
        ({"resources": resources("pods")}, POD, True),
        ({"resources": resources("pods")}, LOG, False),
        ({"resources": resources("pods/log")}, LOG, True),
        ({"resources": resources("pods/log")}, POD, False),
        ({"resources": resources("pods/*")}, LOG, True),
        ({"resources": resources("pods/*")}, POD, True),
        ({"resources": resources("*/log")}, LOG, True),
        ({"resources": resources("*/log")}, POD, False),
        ({"resources": resources("*")}, LOG, True),
        ({"resources": resources("pods", objects=("p",))}, POD, True),
        ({"resources": resources("pods", objects=("q",))}, POD, False),
        ({"resources": resources("pods", objects=("p",))}, "/api/v1/pods?fieldSelector=metadata.name%3Dp", True),
        ({"resources": resources("pods", objects=("p",))}, "/api/v1/pods", False),
        ({"urls": ("/version",)}, "/version", True),
        ({"urls": ("/version",)}, "/version/x", False),
        ({"urls": ("/version*",)}, "/version/x", True),
        ({"urls": ("*",)}, "/version", True),
        ({"urls": ("*",)}, POD, False),
    ],
)
def test_a_rule_applies(given: dict[str, Any], target: str, expected: bool) -> None:
    members: dict[str, Any] = {name: frozenset(v) if isinstance(v, set) else v for name, v in given.items()}
    rule = Rule(CHOSEN, **members)
    assert matches(rule, target) is expected


def test_a_request_without_a_user_matches_no_rule_with_one() -> None:
    assert not matches(Rule(CHOSEN, users=frozenset(("ann",))), POD, user=None)
    assert not matches(Rule(CHOSEN, groups=frozenset(("crew",))), POD, user=None)
    assert matches(Rule(CHOSEN), POD, user=None)


def test_the_first_rule_that_applies_decides() -> None:
    rules = [
        Rule(Chosen(NONE), verbs=frozenset(("list",))),
        Rule(Chosen(REQUEST), users=frozenset(("ann",))),
        Rule(Chosen(RESPONSE)),
    ]
    policy = Policy(rules)
    assert policy.choose(ANN, parse("GET", "/api/v1/pods")).level == NONE
    assert policy.choose(ANN, parse("GET", POD)).level == REQUEST
    assert policy.choose(None, parse("GET", POD)).level == RESPONSE
    assert Policy(rules[:1]).choose(ANN, parse("GET", POD)) is UNRECORDED


def test_one_rule_for_everything_needs_no_look_at_requests() -> None:
    assert Policy([Rule(CHOSEN)]).choose(None, parse("GET", "/x")) is CHOSEN
