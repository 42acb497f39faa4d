"""Default roles and bindings, brought back at a start (component-helpers `auth/rbac/reconciliation`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.authorization.rbac.rules import missing, read
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write

PROTECTED = "rbac.authorization.kubernetes.io/autoupdate"
TRIES = 4
MANAGER = "kube-apiserver"
SPLIT = {"system:public-info-viewer": "system:discovery"}
"""Bindings that begin as a copy of another's subjects (`ClusterRoleBindingsToSplit`)."""
AGGREGATED = {f"system:aggregate-to-{name}": name for name in ("admin", "edit", "view")}
"""Roles that begin as a copy of another that is not aggregated yet (`ClusterRolesToAggregate`)."""
Body = dict[str, Any]
Members = dict[str, Any]
"""The members of an object that a reconciliation changes."""


async def reconcile(registry: Registry, resource: Resource, wanted: Body, draft: Callable[[Body], Draft]) -> None:
    """Create a role or binding, or add what it lacks. Raise ApiError.

    An annotation `autoupdate: "false"` protects it. `draft` decodes the object to create.
    """
    metadata = wanted["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    collection = registry.collection(resource)
    if not collection.ready():
        await collection.wait()
    for attempt in range(TRIES):
        stored = collection.get(resource.native, namespace, name)
        try:
            if stored is None:
                begun = _initial_body(registry, resource, wanted)
                # The fields of a copy are not those that the data has managers of.
                write = Write() if begun is wanted else Write(manager=MANAGER)
                await registry.create(resource, namespace, draft(begun), write)
            elif _other_role(present := orjson.loads(stored.json), wanted):
                if _protected(present):
                    return
                await registry.delete(resource, namespace, name, DeleteOptions(uid=stored.uid), Write())
                continue
            elif lacking(present, wanted):
                await registry.update(resource, namespace, name, _complete_role(wanted), Write(manager=MANAGER))
        except ApiError as e:
            # Another server over the same log does the same.
            if e.code not in (404, 409) or attempt == TRIES - 1:
                raise
        else:
            return


def lacking(present: Body, wanted: Body) -> Members:
    """Return what an object lacks, as the members to set; empty if it lacks nothing (`computeReconciledRole`)."""
    if _protected(present):
        return {}
    found: Members = {}
    for member in ("annotations", "labels"):
        given = present["metadata"].get(member) or {}
        merged = (wanted["metadata"].get(member) or {}) | given
        if merged != given:
            found[member] = merged
    if "roleRef" in wanted:
        subjects: list[Body] = list(present.get("subjects") or [])
        for subject in wanted.get("subjects") or []:
            if subject not in subjects:
                found["subjects"] = subjects = [*subjects, subject]
        return found
    rules = present.get("rules") or []
    if added := missing(read(rules), read(wanted.get("rules"))):
        found["rules"] = rules + [rule.shown() for rule in added]
    return found | _lacking_selectors(present.get("aggregationRule"), wanted.get("aggregationRule"))


def _lacking_selectors(present: Body | None, wanted: Body | None) -> Members:
    if wanted is None:
        return {} if present is None else {"aggregationRule": None}
    selectors: list[Body] = (present or {}).get("clusterRoleSelectors") or []
    more = [s for s in wanted.get("clusterRoleSelectors") or [] if s not in selectors]
    return {"aggregationRule": {"clusterRoleSelectors": selectors + more}} if more else {}


def _protected(present: Body) -> bool:
    return bool((present["metadata"].get("annotations") or {}).get(PROTECTED) == "false")


def _other_role(present: Body, wanted: Body) -> bool:
    return bool(present.get("roleRef") != wanted.get("roleRef"))


def _complete_role(wanted: Body) -> Callable[[Stored], Draft]:
    def change(stored: Stored) -> Draft:
        draft = stored.thaw()
        for member, value in lacking(orjson.loads(stored.json), wanted).items():
            path = ["metadata", member] if member in ("annotations", "labels") else [member]
            draft.set(path, None if value is None else orjson.dumps(value))
        return draft

    return change


def _initial_body(registry: Registry, resource: Resource, wanted: Body) -> Body:
    """Return the object to create: a few continue an older one, which had their part before they existed."""
    name, kept = wanted["metadata"]["name"], dict(wanted)
    older = (SPLIT if resource.plural == "clusterrolebindings" else AGGREGATED).get(name)
    if resource.namespaced or older is None:
        return wanted
    stored = registry.collection(resource).get(resource.native, "", older)
    if stored is None:
        return wanted
    found = orjson.loads(stored.json)
    metadata = {"name": name}
    for member in ("labels", "annotations"):
        if member in found["metadata"]:
            metadata[member] = found["metadata"][member]
    if resource.plural == "clusterrolebindings":
        return kept | {"metadata": metadata, "subjects": found.get("subjects")}
    if found.get("aggregationRule") is not None:
        return wanted
    return kept | {"metadata": metadata, "rules": found.get("rules")}
