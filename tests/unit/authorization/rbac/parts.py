"""Roles and bindings without a server."""

from __future__ import annotations

import json
from typing import Any

from hydrofoil.authorization.rbac.policy import Bindings, Policy, Roles
from hydrofoil.engine import Stored
from tests.unit.parts import draft, resource

GROUP = "rbac.authorization.k8s.io"
Body = dict[str, Any]


def stored(plural: str, body: Body) -> Stored:
    """One version of an object."""
    of = resource(plural, GROUP)
    return draft(of, {"apiVersion": of.api_version, "kind": of.kind, **body}).preview(1)


def rule(verbs: list[str], resources: list[str] | None = None, **more: list[str]) -> Body:
    """A rule of the core group, or of the given members."""
    return {"verbs": verbs, **({"apiGroups": [""], "resources": resources} if resources else {}), **more}


def role(name: str, *rules: Body, namespace: str = "") -> Stored:
    """A ClusterRole, or with a namespace a Role."""
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return stored("roles" if namespace else "clusterroles", {"metadata": meta, "rules": list(rules)})


def binding(name: str, of: str, *subjects: tuple[str, str], namespace: str = "", kind: str = "ClusterRole") -> Stored:
    """A binding of a role to subjects: kind and name; accounts are `namespace/name`."""
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    shown = []
    for what, who in subjects:
        if what == "ServiceAccount":
            place, _, account = who.rpartition("/")
            shown.append({"kind": what, "name": account, **({"namespace": place} if place else {})})
        else:
            shown.append({"kind": what, "name": who, "apiGroup": GROUP})
    body = {"metadata": meta, "roleRef": {"apiGroup": GROUP, "kind": kind, "name": of}, "subjects": shown}
    return stored("rolebindings" if namespace else "clusterrolebindings", json.loads(json.dumps(body)))


def policy(*objects: Stored) -> Policy:
    """A policy of roles and bindings."""
    made = Policy()
    roles, bindings = Roles(made), Bindings(made)
    for one in objects:
        (bindings if b'"roleRef"' in one.json else roles).apply(None, one)
    return made
