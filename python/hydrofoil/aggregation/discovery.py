"""Discovery documents of services, converted to aggregated discovery."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Object = dict[str, Any]


def with_kinds(version: Object) -> Object:
    """Return a version in which each resource and subresource has a kind, possibly an empty one."""
    resources = []
    for r in version.get("resources") or ():
        made = {**r, "responseKind": r.get("responseKind") or empty_kind()}
        if subresources := r.get("subresources"):
            made["subresources"] = [{**s, "responseKind": s.get("responseKind") or empty_kind()} for s in subresources]
        resources.append(made)
    return {**version, "resources": resources} if resources else version


def empty_kind() -> Object:
    """Return the kind of an unknown type."""
    return {"group": "", "version": "", "kind": ""}


def to_aggregated(resources: Iterable[Object]) -> list[Object]:
    """Convert the resources of an APIResourceList (`ConvertGroupVersionIntoToDiscovery`)."""
    out: dict[str, Object] = {}
    for r in resources:
        parent, _, sub = r["name"].partition("/")
        kind = {"group": r.get("group", ""), "version": r.get("version", ""), "kind": r.get("kind", "")}
        scope = "Namespaced" if r.get("namespaced") else "Cluster"
        if sub:
            entry = out.setdefault(parent, {"resource": parent, "scope": scope, "singularResource": "", "verbs": []})
            found = {"subresource": sub, "responseKind": kind, "verbs": r.get("verbs") or []}
            entry.setdefault("subresources", []).append(found)
            continue
        made: Object = {"resource": parent, "responseKind": kind, "scope": scope}
        made |= {"singularResource": r.get("singularName", ""), "verbs": r.get("verbs") or []}
        made |= {key: r[key] for key in ("shortNames", "categories") if r.get(key)}
        out[parent] = made
    return list(out.values())
