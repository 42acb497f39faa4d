"""The options of a write as admission webhooks and policies see them."""

from __future__ import annotations

from typing import Any

from hydrofoil.endpoints.params import Params, split_list
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.write import Operation

KINDS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions"}
Object = dict[str, Any]


def shown_options(given: Params | DeleteOptions, operation: Operation) -> Object | None:
    """Return the options of a request; those of a patch are of the operation that it came to."""
    if isinstance(given, DeleteOptions):
        return _deletion(given)
    kind = KINDS.get(operation)
    if kind is None:
        return None
    found: Object = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
    if given.get("dryRun"):
        found["dryRun"] = split_list(given, "dryRun")
    for name in ("fieldManager", "fieldValidation"):
        if given.get(name):
            found[name] = given[name]
    return found


def _deletion(given: DeleteOptions) -> Object:
    found: Object = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
    grace = given.grace if given.period is None else given.period
    uid = given.uid or given.own_uid
    preconditions = {k: v for k, v in (("uid", uid), ("resourceVersion", given.revision)) if v is not None}
    members: Object = {
        "gracePeriodSeconds": grace,
        "preconditions": preconditions or None,
        "orphanDependents": given.orphan,
        "propagationPolicy": given.policy,
        "dryRun": ["All"] if given.dry_run else None,
    }
    return found | {key: value for key, value in members.items() if value is not None}
