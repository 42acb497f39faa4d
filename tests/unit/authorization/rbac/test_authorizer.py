"""The authorizer over a registry: it follows roles and bindings, and its memory is bounded."""

from __future__ import annotations

import pytest

from hydrofoil.authorization.rbac import authorizer
from hydrofoil.authorization.rbac.authorizer import RBAC
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.write import Write
from hydrofoil.request import User, attributes
from hydrofoil.watch.hub import Hub
from tests.unit.authorization.rbac.parts import GROUP
from tests.unit.parts import draft, opened, resource

ASKED = attributes("get", "", "pods")
RULES = [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]
SUBJECTS = [{"kind": "User", "name": "ada", "apiGroup": GROUP}]
REFERENCE = {"apiGroup": GROUP, "kind": "ClusterRole", "name": "r"}


async def test_a_decision_sees_every_write_before_it() -> None:
    roles, bindings = resource("clusterroles", GROUP), resource("clusterrolebindings", GROUP)
    async with opened() as registry:
        rbac = RBAC(registry, Hub(registry.storage, registry.clock))
        ada = User("ada")
        assert not rbac.authorize(ada, ASKED).allowed
        await registry.create(roles, "", draft(roles, {"metadata": {"name": "r"}, "rules": RULES}), Write())
        body = {"metadata": {"name": "b"}, "subjects": SUBJECTS, "roleRef": REFERENCE}
        await registry.create(bindings, "", draft(bindings, body), Write())
        assert rbac.authorize(ada, ASKED).allowed
        assert not rbac.authorize(User("bob"), ASKED).allowed
        assert rbac.rules(ada, "ns").resources == RULES
        await registry.delete(roles, "", "r", DeleteOptions(), Write())
        found = rbac.authorize(ada, ASKED)
        missing = f'clusterrole.{GROUP} "r" not found'
        assert (found.allowed, found.reason) == (False, f"RBAC: {missing}")
        assert rbac.rules(ada, "ns").error == missing
        rbac.close()


async def test_what_is_kept_for_all_users_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A review may ask about any user, resource and namespace."""
    monkeypatch.setattr(authorizer, "MOST_KEPT", 200)
    async with opened() as registry:
        rbac = RBAC(registry, Hub(registry.storage, registry.clock))
        most = 0
        for n in range(1000):
            assert not rbac.authorize(User(f"u{n}"), attributes("get", "", f"r{n}", namespace=f"n{n}")).allowed
            most = max(most, len(rbac._rights))
        assert most <= 201
        rbac.close()
