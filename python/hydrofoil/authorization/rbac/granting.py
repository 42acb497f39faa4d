"""Roles and bindings are written only by those who hold their rights (`pkg/registry/rbac/*/policybased`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.authorization.rbac.authorizer import RBAC
from hydrofoil.authorization.rbac.rights import GROUP
from hydrofoil.authorization.rbac.rules import FULL, Rule, compact, missing, read
from hydrofoil.engine import Draft, Stored
from hydrofoil.go_text import quote, quote_slice
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.rights import decision, exempt
from hydrofoil.registry.strategy import Strategy
from hydrofoil.registry.write import Write
from hydrofoil.request import attributes

COLLECTED = ("ownerReferences", "finalizers", "managedFields", "selfLink")
"""The metadata that the garbage collector changes."""


class GrantingStrategy(Strategy):
    """Compare the rules that a write grants with those that its user holds."""

    def __init__(self, objects: Objects, rbac: RBAC) -> None:
        super().__init__(objects)
        self._rbac = rbac

    def confirm(self, write: Write, plural: str, name: str, rules: Sequence[Rule]) -> None:
        """Raise ApiError 403 unless the user holds rules (`ConfirmNoEscalation`)."""
        why = self.beyond(write, rules, plural)
        if why:
            raise errors.forbidden(GROUP, plural, name, why)

    def beyond(self, write: Write, rules: Sequence[Rule], plural: str) -> str:
        """Return the refusal of rules that the user does not hold; empty if all are held."""
        user = write.user
        held, problems = self._rbac.rules_for(user, write.namespace)
        lacking = missing(held, rules)
        if not lacking:
            return ""
        shown = sorted({rule.text() for rule in compact(lacking)})
        head = f"user {quote(user.name)} (groups={quote_slice(user.groups)}) is attempting to grant RBAC permissions"
        text = "\n".join([f"{head} not currently held:", *shown])
        if problems:
            # The store names the resource of the request in its errors.
            named = [f"{plural}.{GROUP} {problem.partition(' ')[2]}" for problem in problems]
            text += f"; resolution errors: [{errors.aggregate(named)}]"
        return text


class RoleStrategy(GrantingStrategy):
    """Grant only what is held, or what the verb `escalate` allows."""

    async def authorize(self, write: Write, draft: Draft, old: Stored | None, plural: str) -> None:
        if exempt(write):
            return
        escalate = attributes("escalate", GROUP, plural, namespace=write.namespace, name=write.name)
        if (await decision(write, escalate)).allowed:
            return
        if old is not None and only_collected(draft, old):
            return
        name = draft.metadata().name
        self.confirm(write, plural, name, read(orjson.loads(draft.get(["rules"]) or b"[]")))
        aggregated = _aggregated(draft.get(["aggregationRule"])) or (
            old is not None and _aggregated(old.thaw().get(["aggregationRule"]))
        )
        if aggregated and self.beyond(write, FULL, plural):
            why = "must have cluster-admin privileges to use the aggregationRule"
            raise errors.forbidden(GROUP, plural, name, why)


def _aggregated(rule: bytes | None) -> bool:
    return bool(rule and (orjson.loads(rule) or {}).get("clusterRoleSelectors"))


class BindingStrategy(GrantingStrategy):
    """Bind only roles whose rights are held, or that the verb `bind` allows."""

    async def authorize(self, write: Write, draft: Draft, old: Stored | None, plural: str) -> None:
        if exempt(write) or (old is not None and only_collected(draft, old)):
            return
        reference: dict[str, Any] = orjson.loads(draft.get(["roleRef"]) or b"{}")
        kind, role = reference.get("kind", ""), reference.get("name", "")
        namespace = write.namespace
        resource = {"Role": "roles", "ClusterRole": "clusterroles"}.get(kind)
        if resource is None:
            raise errors.ApiError(500, "", f"unsupported role reference kind: {quote(kind)}")
        group = reference.get("apiGroup", "")
        if (await decision(write, attributes("bind", group, resource, namespace=namespace, name=role))).allowed:
            return
        found = self._rbac.present().roles.get(("" if kind == "ClusterRole" else namespace, role))
        if found is None:
            # The store names the resource of the request in its errors.
            raise errors.not_found(GROUP, plural, role)
        self.confirm(write, plural, draft.metadata().name, found.rules)


def only_collected(draft: Draft, old: Stored) -> bool:
    """Report whether a write changes nothing but what the garbage collector does (`IsOnlyMutatingGCFields`)."""
    return _comparable(orjson.loads(draft.json())) == _comparable(orjson.loads(old.json))


def _comparable(value: dict[str, Any]) -> dict[str, Any]:
    metadata = {name: given for name, given in value.get("metadata", {}).items() if name not in COLLECTED}
    return {**value, "metadata": metadata}
