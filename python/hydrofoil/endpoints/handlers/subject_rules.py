"""The rules bound to a user, as SelfSubjectRulesReview shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.endpoints.context import Context
from hydrofoil.request import User

GROUP = "rbac.authorization.k8s.io"


def rules(context: Context, user: User, namespace: str) -> dict[str, Any]:
    """Return the status of a SelfSubjectRulesReview: the rules of all roles bound to a user (apiserver's
    `RulesFor`, rbac `rule.go VisitRulesFor`).
    """
    resources: list[dict[str, Any]] = []
    urls: list[dict[str, Any]] = []
    for rule in _bound(context, user, namespace):
        if rule.get("resources"):
            kept = ("verbs", "apiGroups", "resources", "resourceNames")
            resources.append({key: rule[key] for key in kept if rule.get(key)})
        if rule.get("nonResourceURLs"):
            urls.append({key: rule[key] for key in ("verbs", "nonResourceURLs")})
    return {"resourceRules": resources, "nonResourceRules": urls, "incomplete": False}


def _bound(context: Context, user: User, namespace: str) -> Iterator[dict[str, Any]]:
    for plural, where in (("clusterrolebindings", ""), ("rolebindings", namespace)):
        bindings = context.registry.catalog.find(GROUP, "v1", plural)
        for stored in context.registry.all(bindings) if bindings else ():
            if stored.namespace != where:
                continue
            binding = orjson.loads(stored.json)
            if any(_applies(subject, user, where) for subject in binding.get("subjects", ())):
                yield from _role(context, binding["roleRef"], where)


def _applies(subject: dict[str, Any], user: User, namespace: str) -> bool:
    name = subject["name"]
    match subject["kind"]:
        case "User":
            return bool(name == user.name)
        case "Group":
            return name in user.groups
    account = f"system:serviceaccount:{subject.get('namespace', namespace)}:{name}"
    return bool(account == user.name)


def _role(context: Context, reference: dict[str, Any], namespace: str) -> list[dict[str, Any]]:
    cluster = reference["kind"] == "ClusterRole"
    roles: Resource | None = context.registry.catalog.find(GROUP, "v1", "clusterroles" if cluster else "roles")
    if roles is None:
        return []
    found = context.registry.collection(roles).get(roles.native, "" if cluster else namespace, reference["name"])
    return orjson.loads(found.json).get("rules") or [] if found else []
