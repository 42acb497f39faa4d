"""Decisions of RBAC with 5,000 bindings and 2,000 roles, and a change of one binding."""

from __future__ import annotations

import itertools
from typing import Any

from tests.unit.authorization.rbac.parts import binding, role, rule

from hydrofoil.authorization.rbac.policy import Bindings, Policy, Roles
from hydrofoil.authorization.rbac.rights import Rights
from hydrofoil.request import User, attributes

MINE = 50
USER = User("worker", groups=("crew", "system:authenticated"))


def filled() -> tuple[Policy, Bindings]:
    """Return a policy in which a user has 50 of the bindings, half of them by a group."""
    policy = Policy()
    roles, bindings = Roles(policy), Bindings(policy)
    rules = [rule(["get", "list"], [f"kind{n}" for n in range(3)]), rule(["get"], ["secrets"], resourceNames=["one"])]
    roles.replace([role(f"r{n}", *rules, rule(["watch"], [f"thing{n}"]), namespace=f"ns{n % 20}") for n in range(2000)])
    made = []
    for n in range(5000):
        mine = n % 100 == 0
        subject = (("User", "worker") if n % 200 else ("Group", "crew")) if mine else ("User", f"u{n}")
        at = n % 2000
        made.append(binding(f"b{n}", f"r{at}", subject, namespace=f"ns{at % 20}", kind="Role"))
    bindings.replace(made)
    return policy, bindings


def test_allowed(benchmark: Any) -> None:
    """A request of a kind that was asked about before."""
    policy, _ = filled()
    rights = Rights(policy, USER)
    info = attributes("get", "", "kind1", namespace="ns0", name="x")
    assert benchmark(rights.decide, info).allowed


def test_refused(benchmark: Any) -> None:
    """The same, for a request that no rule allows."""
    policy, _ = filled()
    rights = Rights(policy, USER)
    info = attributes("delete", "", "kind1", namespace="ns0", name="x")
    assert not benchmark(rights.decide, info).allowed


def test_a_kind_for_the_first_time(benchmark: Any) -> None:
    """Each request is of another resource, so that no earlier decision answers it."""
    policy, _ = filled()
    rights = Rights(policy, USER)
    numbers = itertools.count()
    rights.decide(attributes("get", "", "x", namespace="ns0"))
    benchmark(lambda: rights.decide(attributes("get", "", f"k{next(numbers)}", namespace="ns0")))


def test_a_change(benchmark: Any) -> None:
    """A binding of the user changes, and the next decision holds."""
    policy, bindings = filled()
    info = attributes("get", "", "kind1", namespace="ns0")
    versions = [
        binding("more", "r0", ("User", "worker"), ("User", f"x{n}"), namespace="ns0", kind="Role") for n in (0, 1)
    ]
    numbers = itertools.count()

    def change() -> bool:
        n = next(numbers)
        bindings.apply(versions[n % 2], versions[(n + 1) % 2])
        return Rights(policy, USER).decide(info).allowed

    assert benchmark(change)
