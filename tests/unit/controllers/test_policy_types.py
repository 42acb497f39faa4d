"""The kinds that a policy names (apiserver `plugin/policy/validating/typechecking_test.go`, TestExtractTypeNames)."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.controllers.policy_types import MOST, kinds_of_rules
from tests.unit.parts import CATALOG

Rule = tuple[list[str], list[str], list[str]]


def named(*rules: Rule) -> list[str]:
    members = ("apiGroups", "apiVersions", "resources")
    spec: dict[str, Any] = {"matchConstraints": {"resourceRules": [dict(zip(members, r, strict=True)) for r in rules]}}
    return [str(kind) for kind in kinds_of_rules(CATALOG.groups, spec)]


@pytest.mark.parametrize(
    ("rules", "kinds"),
    [
        ([], []),
        ([(["apps"], ["v1"], ["deployments"])], ["apps/v1, Kind=Deployment"]),
        (
            [(["apps"], ["v1"], ["deployments"]), ([""], ["v1"], ["pods", "pods"])],
            ["/v1, Kind=Pod", "apps/v1, Kind=Deployment"],
        ),
        ([(["apps"], ["v1"], ["*"])], []),
        ([(["apps"], ["*"], ["deployments"]), (["*"], ["v1"], ["pods"])], []),
        ([([""], ["v1"], ["pods/*", "pods/exec"])], []),
        ([(["apps"], ["v1", "v9"], ["deployments", "absent"])], ["apps/v1, Kind=Deployment"]),
        # By the singular name, in any case; and without a group in every group, as upstream's mapper.
        ([(["apps"], ["v1"], ["Deployment"])], ["apps/v1, Kind=Deployment"]),
        ([([""], ["v1"], ["events"])], ["/v1, Kind=Event", "events.k8s.io/v1, Kind=Event"]),
    ],
)
def test_rules_name_kinds(rules: list[Rule], kinds: list[str]) -> None:
    assert named(*rules) == kinds


def test_the_number_of_kinds_is_bounded() -> None:
    many = ["configmaps", "endpoints", "limitranges", "namespaces", "nodes", "persistentvolumeclaims"]
    many += ["persistentvolumes", "pods", "podtemplates", "replicationcontrollers", "secrets", "services"]
    assert len(named(([""], ["v1"], many))) == MOST
    assert named(([""], ["v1"], many), (["apps"], ["v1"], ["deployments"])) == named(([""], ["v1"], many))


def test_many_names_are_no_many_combinations() -> None:
    names = [f"n{number}" for number in range(20_000)]
    assert named((["apps", *names], ["v1", *names], ["deployments", *names])) == ["apps/v1, Kind=Deployment"]
    assert named((["", *names], ["v1", *names], ["pods", *names])) == ["/v1, Kind=Pod"]
