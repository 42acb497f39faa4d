"""The garbage collector's graph of objects and their owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.aggregation.remote import Remote
from hydrofoil.apis.catalog import Resource

Kind = Resource | Remote
"""A resource of this server, or of one behind an API service."""


class Edges(Struct, frozen=True, gc=False):
    """What places an object in the graph. Many have the same: all pods of a replica set have one owner."""

    owners: Sequence[dict[str, Any]] = ()
    finalizers: Sequence[str] = ()
    deleting: bool = False


def read_edges(metadata: Mapping[str, Any]) -> Edges:
    """Return the edges of an object with this metadata."""
    owners, finalizers = metadata.get("ownerReferences") or (), metadata.get("finalizers") or ()
    return Edges(owners, finalizers, "deletionTimestamp" in metadata)


def parse_edges(text: bytes) -> Edges:
    """Return the edges of an object from `Stored.graph_members`."""
    return read_edges(orjson.loads(text))


class Node(Struct, gc=False):
    """One object of the graph. There is one for each object of a server: what is equal is shared."""

    resource: Kind
    namespace: str
    name: str
    edges: Edges = Edges()
    reported: frozenset[str] = frozenset()
    """Owners already reported as invalid by an Event."""

    @property
    def owners(self) -> Sequence[dict[str, Any]]:
        """Return the owner references."""
        return self.edges.owners

    @property
    def finalizers(self) -> Sequence[str]:
        """Return the finalizers."""
        return self.edges.finalizers

    @property
    def deleting(self) -> bool:
        """Report whether the deletion of the object has begun."""
        return self.edges.deleting


def invalid_owner(node: Node, uid: str, owner: dict[str, Any]) -> tuple[dict[str, str], str]:
    """Return object and message of the Event for an owner in another namespace
    (garbagecollector `reportInvalidNamespaceOwnerRef`)."""
    shown = f"[{owner['apiVersion']}/{owner['kind']}, namespace: {node.namespace}, name: {owner['name']}"
    shown += f", uid: {owner['uid']}]"
    about = {"kind": node.resource.kind, "apiVersion": node.resource.api_version, "name": node.name, "uid": uid}
    if node.namespace:
        about["namespace"] = node.namespace
    return about, f'ownerRef {shown} does not exist in namespace "{node.namespace}"'
