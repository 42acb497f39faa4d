"""To which schema a request belongs."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.fairness.schema import mandatory, schema_of
from hydrofoil.request import ADMIN, User, parse

ADA = User("ada", groups=("crew", "system:authenticated"))
BOT = User("system:serviceaccount:n:bot", groups=("system:authenticated",))
EVERY = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}


def matches(
    target: str,
    *,
    user: User = ADA,
    subjects: Any = ({"kind": "User", "user": {"name": "*"}},),
    resource: Any = None,
    url: Any = None,
) -> bool:
    rule: dict[str, Any] = {"subjects": list(subjects)}
    if resource is not None:
        rule["resourceRules"] = [EVERY | resource]
    if url is not None:
        rule["nonResourceRules"] = [url]
    spec = {"priorityLevelConfiguration": {"name": "l"}, "rules": [rule]}
    return schema_of({"metadata": {"name": "s"}, "spec": spec}).match(user, parse("GET", target))


PODS = "/api/v1/namespaces/n/pods"


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ({"kind": "User", "user": {"name": "ada"}}, [True, False]),
        ({"kind": "Group", "group": {"name": "crew"}}, [True, False]),
        ({"kind": "Group", "group": {"name": "*"}}, [True, True]),
        ({"kind": "ServiceAccount", "serviceAccount": {"namespace": "n", "name": "bot"}}, [False, True]),
        ({"kind": "ServiceAccount", "serviceAccount": {"namespace": "n", "name": "*"}}, [False, True]),
        ({"kind": "ServiceAccount", "serviceAccount": {"namespace": "m", "name": "*"}}, [False, False]),
        ({"kind": "Other"}, [False, False]),
    ],
)
def test_subjects(subject: Any, expected: list[bool]) -> None:
    assert [matches(PODS, user=user, subjects=[subject], resource={}) for user in (ADA, BOT)] == expected


@pytest.mark.parametrize(
    ("target", "rule", "expected"),
    [
        (PODS, {}, True),
        (PODS, {"verbs": ["list"]}, True),
        (PODS, {"verbs": ["get"]}, False),
        (PODS, {"resources": ["pods"]}, True),
        (f"{PODS}/p/log", {"resources": ["pods"]}, False),
        (f"{PODS}/p/log", {"resources": ["pods/log"]}, True),
        (PODS, {"apiGroups": ["apps"]}, False),
        (PODS, {"namespaces": ["n"]}, True),
        (PODS, {"namespaces": ["m"]}, False),
        ("/api/v1/nodes", {"namespaces": ["n"]}, True),
        ("/api/v1/nodes", {"clusterScope": False}, False),
        ("/version", {}, False),
    ],
)
def test_resource_rules(target: str, rule: Any, expected: bool) -> None:
    assert matches(target, resource=rule) is expected


@pytest.mark.parametrize(
    ("path", "url", "expected"),
    [
        ("/healthz", "/healthz", True),
        ("/healthz/ping", "/healthz", True),
        ("/healthz/ping", "/healthz/*", True),
        ("/healthzy", "/healthz", False),
        ("/anything", "*", True),
        (PODS, "*", False),
    ],
)
def test_other_paths(path: str, url: str, expected: bool) -> None:
    assert matches(path, url={"verbs": ["*"], "nonResourceURLs": [url]}) is expected


def test_flows_are_told_apart_by_user_or_namespace() -> None:
    spec: dict[str, Any] = {"priorityLevelConfiguration": {"name": "l"}}
    for kind, expected in (("ByUser", "ada"), ("ByNamespace", "n"), ("", "")):
        found = schema_of({"metadata": {"name": "s"}, "spec": spec | {"distinguisherMethod": {"type": kind}}})
        assert found.distinguisher(ADA, parse("GET", PODS)) == expected


def test_two_schemas_need_no_objects() -> None:
    exempt, other = mandatory()
    assert exempt.match(ADMIN, parse("GET", PODS)) and not exempt.match(ADA, parse("GET", PODS))
    assert other.match(ADA, parse("GET", PODS)) and other.match(User("x"), parse("GET", "/x"))
