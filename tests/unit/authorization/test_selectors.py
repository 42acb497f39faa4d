"""Selectors as authorizers see them (apimachinery `labels/selector.go`, `fields/selector.go`; access.md)."""

from __future__ import annotations

import pytest

from hydrofoil.authorization.selectors import encode_requirements, fields, labels, selection, selection_of_review
from hydrofoil.request import NO_SELECTION, Requirement, parse

PODS = "/api/v1/namespaces/a/pods"


def requirement(key: str, operator: str, *values: str) -> Requirement:
    return Requirement(key, operator, values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a=b", [requirement("a", "In", "b")]),
        ("a==b", [requirement("a", "In", "b")]),
        ("a!=b", [requirement("a", "NotIn", "b")]),
        ("a in (c, b)", [requirement("a", "In", "b", "c")]),
        ("a in (b,b)", [requirement("a", "In", "b")]),
        ("a notin (b)", [requirement("a", "NotIn", "b")]),
        ("a in (,b)", [requirement("a", "In", "", "b")]),
        ("a in (b,)", [requirement("a", "In", "", "b")]),
        ("a,!b", [requirement("a", "Exists"), requirement("b", "DoesNotExist")]),
        ("b,a", [requirement("a", "Exists"), requirement("b", "Exists")]),
        ("a=", [requirement("a", "In", "")]),
        ("a=,b", [requirement("a", "In", ""), requirement("b", "Exists")]),
        ("in in (notin)", [requirement("in", "In", "notin")]),
        ("x.io/a-b = c_d", [requirement("x.io/a-b", "In", "c_d")]),
        ("a in ()", [requirement("a", "In", "")]),
        ("a>5", [requirement("a", "")]),
    ],
)
def test_labels_have_requirements_by_key(text: str, expected: list[Requirement]) -> None:
    assert labels(text) == tuple(expected)


@pytest.mark.parametrize(
    "text",
    [
        *("a in b", "a in (b", "a in (b))", "a b", ",", "a,", "a,,b", "!", "!a=b", "a>b", "=b", "a=b=c"),
        *("-a", "a/b/c", "A.b/c=d=e", "a=b c", "a=-b", "a in (b c)", "/a", "a in (!b)"),
    ],
)
def test_labels_that_cannot_be_parsed_count_as_none(text: str) -> None:
    assert labels(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("b=c,a!=d", [requirement("a", "NotIn", "d"), requirement("b", "In", "c")]),
        ("a==b", [requirement("a", "In", "b")]),
        ("a=", [requirement("a", "In", "")]),
        ("a=b\\,c\\=d\\\\", [requirement("a", "In", "b,c=d\\")]),
        (",a=b,", [requirement("a", "In", "b")]),
    ],
)
def test_fields_are_sorted_by_term(text: str, expected: list[Requirement]) -> None:
    assert fields(text) == tuple(expected)


@pytest.mark.parametrize("text", ["a", "a=b=c", "a=b\\c", "a=b\\", "a>b"])
def test_fields_that_cannot_be_parsed_count_as_none(text: str) -> None:
    assert fields(text) is None


def test_selectors_count_for_verbs_of_many_objects() -> None:
    """Not for one object, a creation, or a watch by its old path (apiserver `requestinfo.go`)."""
    query = "?fieldSelector=a%3Db&labelSelector=c"
    for method, path in (("GET", PODS), ("GET", f"{PODS}{query}&watch=1"), ("DELETE", PODS)):
        found = selection(parse(method, path if "?" in path else path + query))
        assert (len(found.fields), len(found.labels)) == (1, 1)
    for method, path in (
        ("GET", f"{PODS}/a"),
        ("POST", PODS),
        ("PATCH", f"{PODS}/a"),
        ("GET", "/api/v1/watch/namespaces/a/pods"),
        ("GET", "/version"),
    ):
        assert selection(parse(method, path + query)) is NO_SELECTION


def test_a_bad_selector_leaves_the_other() -> None:
    found = selection(parse("GET", f"{PODS}?fieldSelector=a%3Db%3Dc&labelSelector=x"))
    assert (found.fields, found.labels) == ((), (requirement("x", "Exists"),))


def test_comparisons_of_numbers_are_left_out() -> None:
    found = selection(parse("GET", f"{PODS}?labelSelector=a%3E5,b%3C7,c"))
    assert found.labels == (requirement("c", "Exists"),)
    assert encode_requirements(found.labels) == [{"key": "c", "operator": "Exists"}]


def test_selectors_of_reviews_report_the_rest() -> None:
    """The source is pkg/registry/authorization `util/helpers.go`."""
    good = {"key": "a", "operator": "In", "values": ["b"]}
    found, problem = selection_of_review(
        {"fieldSelector": {"requirements": [good]}, "labelSelector": {"rawSelector": "a in (b)"}}
    )
    assert (found.fields, found.labels, problem) == ((Requirement("a", "In", ("b",)),) * 1, found.fields, "")
    bad = {"key": "a", "operator": "Exists"}
    found, problem = selection_of_review({"fieldSelector": {"requirements": [good, bad]}})
    assert len(found.fields) == 1
    assert problem == "spec.resourceAttributes.fieldSelector partially ignored due to parse error"
    found, problem = selection_of_review({"labelSelector": {"rawSelector": "a in b"}})
    assert (found.labels, problem) == ((), "spec.resourceAttributes.labelSelector ignored due to parse error")
