"""The garbage collector's graph of objects and their owners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from hydrofoil.aggregation.remote import Remote
from hydrofoil.apis.catalog import Resource

Kind = Resource | Remote
"""A resource of this server, or of one behind an API service."""


class Node(Struct):
    """One object of the graph. There is one for each object of a server: what is empty is shared."""

    resource: Kind
    namespace: str
    name: str
    owners: Sequence[dict[str, Any]] = ()
    finalizers: Sequence[str] = ()
    deleting: bool = False
    reported: frozenset[str] = frozenset()
    """Owners already reported as invalid by an Event."""


def invalid_owner(node: Node, uid: str, owner: dict[str, Any]) -> tuple[dict[str, str], str]:
    """Return object and message of the Event for an owner in another namespace
    (garbagecollector `reportInvalidNamespaceOwnerRef`)."""
    shown = f"[{owner['apiVersion']}/{owner['kind']}, namespace: {node.namespace}, name: {owner['name']}"
    shown += f", uid: {owner['uid']}]"
    about = {"kind": node.resource.kind, "apiVersion": node.resource.api_version, "name": node.name, "uid": uid}
    if node.namespace:
        about["namespace"] = node.namespace
    return about, f'ownerRef {shown} does not exist in namespace "{node.namespace}"'
