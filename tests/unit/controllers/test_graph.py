"""Events for owners that cannot be owners."""

from __future__ import annotations

from hydrofoil.controllers.graph import Node, invalid_owner
from tests.unit.parts import resource

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u"}


def test_an_owner_in_another_namespace_is_an_event() -> None:
    node = Node(resource("configmaps"), "a", "c")
    found = invalid_owner(node, "own", OWNER, "2026-01-01T00:00:00Z", "mark")
    assert found["metadata"] == {"name": "c.mark", "namespace": "a"}
    assert found["involvedObject"]["uid"] == "own"
    assert found["reason"] == "OwnerRefInvalidNamespace"
    assert found["message"] == 'ownerRef [v1/Pod, namespace: a, name: o, uid: u] does not exist in namespace "a"'


def test_events_of_cluster_scoped_objects_stand_in_the_default_namespace() -> None:
    found = invalid_owner(Node(resource("nodes"), "", "n"), "own", OWNER, "", "mark")
    assert found["metadata"]["namespace"] == "default"
    assert "namespace" not in found["involvedObject"]
