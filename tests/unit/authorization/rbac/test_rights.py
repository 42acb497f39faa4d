"""Compiled rights decide as the rules one by one would (kubernetes `plugin/pkg/auth/authorizer/rbac`)."""

from __future__ import annotations

import itertools
import random
from typing import Any

from hydrofoil.authorization.rbac.policy import Bindings, Policy, Roles
from hydrofoil.authorization.rbac.rights import MOST_KINDS, Rights
from hydrofoil.request import RequestInfo, User, attributes
from tests.unit.authorization.rbac.parts import binding, policy, role, rule

ADA = User("ada", groups=("crew", "system:authenticated"))
BY_ADA = ("User", "ada")


def rights(*objects: Any, user: User = ADA) -> Rights:
    return Rights(policy(*objects), user)


def path(verb: str, url: str) -> RequestInfo:
    return RequestInfo(url, "", verb, resourceful=False)


def test_the_reason_names_the_binding_its_role_and_the_first_subject_that_fits() -> None:
    reader = role("reader", rule(["get"], ["pods"]))
    everyone = [("User", "x"), ("Group", "crew"), BY_ADA]
    found = rights(reader, binding("b", "reader", *everyone)).decide(attributes("get", "", "pods"))
    assert found.reason == 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to Group "crew"'
    account = User("system:serviceaccount:ns:bot")
    bound = binding("b", "reader", ("ServiceAccount", "/bot"), namespace="ns")
    found = rights(reader, bound, user=account).decide(attributes("get", "", "pods", namespace="ns"))
    assert found.reason == 'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "reader" to ServiceAccount "bot/ns"'


def test_a_binding_holds_in_its_namespace() -> None:
    objects = (role("reader", rule(["get"], ["pods"])), binding("b", "reader", BY_ADA, namespace="ns"))
    held = rights(*objects)
    assert held.decide(attributes("get", "", "pods", namespace="ns")).allowed
    assert not held.decide(attributes("get", "", "pods", namespace="other")).allowed
    assert not held.decide(attributes("get", "", "pods")).allowed
    assert not held.decide(path("get", "/x")).allowed


def test_an_account_without_namespace_in_a_cluster_binding_fits_no_user() -> None:
    objects = (role("reader", rule(["get"], ["pods"])), binding("b", "reader", ("ServiceAccount", "/bot")))
    for name in ("system:serviceaccount::bot", "system:serviceaccount:default:bot", "bot"):
        assert not rights(*objects, user=User(name)).decide(attributes("get", "", "pods")).allowed


def test_missing_roles_are_the_reason_of_a_refusal() -> None:
    objects = (
        binding("a", "none", BY_ADA),
        binding("b", "none", BY_ADA, namespace="ns", kind="Role"),
        binding("c", "none", BY_ADA, namespace="ns"),
    )
    held = rights(*objects)
    missing = '"none" not found'
    cluster = f"clusterrole.rbac.authorization.k8s.io {missing}"
    assert held.decide(attributes("get", "", "pods")).reason == f"RBAC: {cluster}"
    both = f"RBAC: [{cluster}, role.rbac.authorization.k8s.io {missing}]"
    assert held.decide(attributes("get", "", "pods", namespace="ns")).reason == both
    assert not held.decide(attributes("get", "", "pods", namespace="ns")).error


def test_paths() -> None:
    allowed = rule(["get"], nonResourceURLs=["/metrics", "/logs/*", "/v3*", "/a*/x"])
    held = rights(role("r", allowed), binding("b", "r", BY_ADA))
    for url in ("/metrics", "/logs/", "/logs/a/b", "/v3", "/v3x", "/a*/x"):
        assert held.decide(path("get", url)).allowed, url
    for url in ("/metrics/", "/logs", "/", "", "/ab/x", "/METRICS"):
        assert not held.decide(path("get", url)).allowed, url
    assert not held.decide(path("post", "/metrics")).allowed


def slow(rules: list[dict[str, Any]], info: RequestInfo) -> bool:
    """Decide by the rules one after the other (`RuleAllows`)."""
    combined = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    for one in rules:
        resources = one.get("resources", [])
        fits = "*" in resources or combined in resources
        fits = fits or bool(info.subresource and f"*/{info.subresource}" in resources)
        groups, names = one.get("apiGroups", []), one.get("resourceNames", [])
        verbs = "*" in one["verbs"] or info.verb in one["verbs"]
        if verbs and fits and ("*" in groups or info.group in groups) and (not names or info.name in names):
            return True
    return False


def test_the_compiled_form_decides_as_the_rules_do() -> None:
    """Every combination of a few values against random rules, asked twice: the second answer is kept."""
    chance = random.Random(7)
    verbs, groups = ["get", "list", "*"], ["", "apps", "*"]
    resources, names = ["pods", "pods/log", "*", "*/log", "pods/*"], ["a", "b"]
    for _ in range(60):
        rules = []
        for _ in range(chance.randint(1, 3)):
            some = {"resourceNames": chance.sample(names, 1)} if chance.random() < 0.4 else {}
            made = {"verbs": chance.sample(verbs, 1), "apiGroups": chance.sample(groups, 1)}
            rules.append(made | {"resources": chance.sample(resources, 2)} | some)
        held = rights(role("r", *rules), binding("b", "r", BY_ADA))
        for verb, group, resource, sub, name in itertools.product(
            ["get", "list", "watch"], ["", "apps", "batch"], ["pods", "nodes"], ["", "log"], ["", "a", "b"]
        ):
            info = attributes(verb, group, resource, subresource=sub, name=name)
            assert held.decide(info).allowed is slow(rules, info) is held.decide(info).allowed, (rules, info)


def test_what_is_kept_is_bounded() -> None:
    """Clients choose the names of resources and namespaces."""
    held = rights(role("r", rule(["get"], ["pods"])), binding("b", "r", BY_ADA))
    for n in range(MOST_KINDS + 10):
        assert not held.decide(attributes("get", "", f"r{n}", namespace=f"n{n}")).allowed
    assert len(held._decisions) <= MOST_KINDS
    assert len(held._tables) <= MOST_KINDS
    assert held.decide(attributes("get", "", "pods", namespace="n")).allowed


def test_the_index_forgets_what_is_removed() -> None:
    made = Policy()
    roles, bindings = Roles(made), Bindings(made)
    one = role("r", rule(["get"], ["pods"]))
    bound = binding("b", "r", BY_ADA, ("Group", "crew"))
    other = binding("b", "r", ("User", "bob"))
    asked = attributes("get", "", "pods")
    roles.replace([one])
    bindings.replace([bound])
    assert Rights(made, ADA).decide(asked).allowed
    bindings.apply(bound, other)
    assert not Rights(made, ADA).decide(asked).allowed
    assert Rights(made, User("bob")).decide(asked).allowed
    before = made.generation
    bindings.apply(other, None)
    assert made.generation > before
    assert made._bound == {}
    roles.apply(one, None)
    assert made.roles == {}
    bindings.replace([bound])
    bindings.replace([])
    assert made._bound == {}
