"""Which rules cover others (component-helpers `auth/rbac/validation/policy_comparator_test.go`)."""

from __future__ import annotations

import pytest

from hydrofoil.authorization.rbac.rules import FULL, Rule, compact, missing, pieces


def resources(verbs: str, groups: str, names: str, *only: str) -> Rule:
    """A rule of resources in words; `core` is the core group."""
    return Rule(
        tuple(verbs.split()), tuple(g.replace("core", "") for g in groups.split()), tuple(names.split()), tuple(only)
    )


def urls(verbs: str, *given: str) -> Rule:
    return Rule(tuple(verbs.split()), urls=given)


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        (resources("get list", "core", "pods"), resources("get", "core", "pods")),
        (resources("*", "core", "pods"), resources("juggle", "core", "pods")),
        (resources("get", "*", "pods"), resources("get", "apps", "pods")),
        (resources("get", "core", "*"), resources("get", "core", "pods/log")),
        (resources("get", "core", "*/scale"), resources("get", "core", "pods/scale")),
        (resources("get", "core", "pods"), resources("get", "core", "pods", "a")),
        (resources("get", "core", "pods", "a", "b"), resources("get", "core", "pods", "b")),
        (urls("get", "/logs/*"), urls("get", "/logs/x", "/logs/*")),
        (urls("get", "*"), urls("get", "/any")),
    ],
)
def test_covered(own: Rule, wanted: Rule) -> None:
    assert missing([own], [wanted]) == []


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        (resources("get", "core", "pods"), resources("*", "core", "pods")),
        (resources("get", "core", "pods"), resources("get", "apps", "pods")),
        (resources("get", "core", "pods"), resources("get", "core", "*")),
        (resources("get", "core", "pods"), resources("get", "core", "pods/log")),
        (resources("get", "core", "pods/*"), resources("get", "core", "pods/log")),
        (resources("get", "core", "*/scale"), resources("get", "core", "pods/status")),
        (resources("get", "core", "pods", "a"), resources("get", "core", "pods")),
        (resources("get", "core", "pods", "*"), resources("get", "core", "pods", "a")),
        (urls("get", "/logs/*"), urls("get", "/log*")),
        (urls("get", "/logs/*"), urls("post", "/logs/x")),
        (urls("get", "/logs"), urls("get", "/logs/x")),
        (FULL[0], urls("get", "/x")),
        (FULL[1], resources("get", "core", "pods")),
    ],
)
def test_not_covered(own: Rule, wanted: Rule) -> None:
    assert missing([own], [wanted]) == pieces(wanted)


def test_a_rule_may_be_covered_by_several() -> None:
    own = [resources("get", "core", "pods"), resources("list", "core", "pods")]
    assert missing(own, [resources("get list", "core", "pods")]) == []


def test_compact_joins_verbs_and_shows_the_rest() -> None:
    """`CompactRules`, `CompactString`."""
    lacking = pieces(resources("get list", "core", "pods nodes")) + pieces(urls("get", "/x", '/"y"'))
    assert sorted(rule.text() for rule in compact(lacking)) == [
        '{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
        '{NonResourceURLs:["/\\"y\\""], Verbs:["get"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
    ]
