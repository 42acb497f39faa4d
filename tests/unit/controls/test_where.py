"""The selection of requests: names that can match nothing are refused (newcomer 2)."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.controls.record import Record
from hydrofoil.controls.where import check_names, check_resources, matches
from tests.unit.parts import CATALOG

RECORD = Record("GET", "/api/v1/pods", {"limit": "5", "watch": "true"}, verb="list", resource="pods", code=200)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, True),
        ({"verb": "list"}, True),
        ({"verb": ["get", "l*"]}, True),
        ({"code": 200}, True),
        ({"code": "2*"}, True),
        ({"resource": "pods", "name": None}, True),
        ({"params": {"limit": 5, "continue": None}}, True),
        ({"params": {"watch": True}}, True),
        ({"params": {"limit": None}}, False),
        ({"params": {"limit": "4"}}, False),
        ({"verb": "get"}, False),
    ],
)
def test_matches(where: dict[str, Any], expected: bool) -> None:
    check_names(where)
    assert matches(RECORD, where) is expected


@pytest.mark.parametrize(
    ("where", "error", "words"),
    [
        ({"resorce": "secrets"}, TypeError, r"requests have no 'resorce' \(resource\?\)"),
        ({"limit": 5}, TypeError, "given as params="),
        ({"number": 5}, TypeError, "no 'number'"),
        ({"verb": "lists"}, ValueError, r"no verb 'lists' \(list\?\)"),
        ({"verb": ["get", "x*"]}, ValueError, "no verb 'x\\*'"),
        ({"params": "limit"}, TypeError, "params must be a dict"),
    ],
)
def test_a_name_that_matches_nothing_is_refused(where: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        check_names(where)


@pytest.mark.parametrize("served", ["pods", "pods/status", "deployments.apps", "conf*", None, ["pods", "secrets"], ""])
def test_a_resource_that_is_served(served: Any) -> None:
    check_resources(CATALOG, served)


def test_a_definition_may_come_later() -> None:
    check_resources(CATALOG, "websites.example.com")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("secret", r"no resource 'secret' is served \(secrets\?\)"),
        ("po", r"\(pods\?\)"),
        ("websites", "no resource 'websites' is served"),
        ("deploymnets", r"\(deployments.apps"),
        ("pods.apps", "no resource 'pods.apps'"),
        (["pods", "secert"], r"\(secrets, services\?\)"),
    ],
)
def test_a_resource_that_is_not_served_is_refused(wrong: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_resources(CATALOG, wrong)
