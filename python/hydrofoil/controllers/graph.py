"""The garbage collector's graph of objects and their owners."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from hydrofoil.aggregation.remote import Remote
from hydrofoil.apis.catalog import Resource

Kind = Resource | Remote
"""A resource of this server, or of one behind an API service."""


class Node(Struct):
    """One object of the graph."""

    resource: Kind
    namespace: str
    name: str
    owners: list[dict[str, Any]] = field(default_factory=list)
    finalizers: list[str] = field(default_factory=list)
    deleting: bool = False
    reported: set[str] = field(default_factory=set)
    """Owners already reported as invalid by an Event."""


def invalid_owner(node: Node, uid: str, owner: dict[str, Any], moment: str, mark: str) -> dict[str, Any]:
    """Return the Event for an owner in another namespace (garbagecollector `reportInvalidNamespaceOwnerRef`)."""
    namespace = node.namespace or "default"
    shown = f"[{owner['apiVersion']}/{owner['kind']}, namespace: {node.namespace}, name: {owner['name']}"
    shown += f", uid: {owner['uid']}]"
    subject = {"kind": node.resource.kind, "apiVersion": node.resource.api_version, "name": node.name, "uid": uid}
    if node.namespace:
        subject["namespace"] = node.namespace
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{node.name}.{mark}", "namespace": namespace},
        "involvedObject": subject,
        "reason": "OwnerRefInvalidNamespace",
        "message": f'ownerRef {shown} does not exist in namespace "{node.namespace}"',
        "source": {"component": "garbage-collector-controller"},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
        "type": "Warning",
        "reportingComponent": "garbage-collector-controller",
    }
