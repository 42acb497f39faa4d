"""What reviews of access tell: the rules that bindings give the caller, and what of a selector was ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from hydrofoil import engine
from hydrofoil.apis.catalog import Resource
from hydrofoil.endpoints.context import Context

GROUP = "rbac.authorization.k8s.io"


def rules(context: Context, user: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The status of a SelfSubjectRulesReview: the rules of all roles that are bound to a user (apiserver's
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


def _bound(context: Context, user: dict[str, Any], namespace: str) -> Iterator[dict[str, Any]]:
    for plural, where in (("clusterrolebindings", ""), ("rolebindings", namespace)):
        bindings = context.registry.catalog.find(GROUP, "v1", plural)
        for stored in context.registry.all(bindings) if bindings else ():
            if stored.namespace != where:
                continue
            binding = orjson.loads(stored.json)
            if any(_applies(subject, user, where) for subject in binding.get("subjects", ())):
                yield from _role(context, binding["roleRef"], where)


def _applies(subject: dict[str, Any], user: dict[str, Any], namespace: str) -> bool:
    name = subject["name"]
    match subject["kind"]:
        case "User":
            return bool(name == user["username"])
        case "Group":
            return name in user["groups"]
    account = f"system:serviceaccount:{subject.get('namespace', namespace)}:{name}"
    return bool(account == user["username"])


def _role(context: Context, reference: dict[str, Any], namespace: str) -> list[dict[str, Any]]:
    cluster = reference["kind"] == "ClusterRole"
    roles: Resource | None = context.registry.catalog.find(GROUP, "v1", "clusterroles" if cluster else "roles")
    if roles is None:
        return []
    found = context.registry.collection(roles).get(roles.native, "" if cluster else namespace, reference["name"])
    return orjson.loads(found.json).get("rules") or [] if found else []


def ignored(context: Context, attributes: dict[str, Any]) -> str:
    """The `evaluationError` of a review: selectors that cannot be read are left out of account.

    The source is pkg/registry/authorization `util/helpers.go`.
    """
    texts = []
    for kind, read in (("fieldSelector", _field), ("labelSelector", _label)):
        selector = attributes.get(kind) or {}
        wanted = selector.get("requirements") or []
        understood = [read(context, requirement) for requirement in wanted]
        if not wanted and selector.get("rawSelector"):
            understood = [_raw(context, kind, selector["rawSelector"])]
        if not all(understood):
            partly = "partially " if any(understood) else ""
            texts.append(f"spec.resourceAttributes.{kind} {partly}ignored due to parse error")
    return "; ".join(texts)


def _field(_: Context, requirement: dict[str, Any]) -> bool:
    return requirement.get("operator") in ("In", "NotIn") and len(requirement.get("values") or ()) == 1


def _label(context: Context, requirement: dict[str, Any]) -> bool:
    key, values = requirement.get("key", ""), requirement.get("values") or []
    match requirement.get("operator"):
        case "In" | "NotIn" if values:
            word = "in" if requirement["operator"] == "In" else "notin"
            return _raw(context, "labelSelector", f"{key} {word} ({','.join(values)})")
        case "Exists" | "DoesNotExist" if not values:
            return _raw(context, "labelSelector", key)
    return False


def _raw(context: Context, kind: str, text: str) -> bool:
    if kind == "fieldSelector":
        # Any field may be named: only the form counts.
        return all("=" in term for term in text.split(",") if term)
    try:
        engine.Selector(context.resource.native, "", text, "")
    except ValueError:
        return False
    return True
