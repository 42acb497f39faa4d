"""Events for owners that cannot be owners."""

from __future__ import annotations

from hydrofoil.controllers.graph import Node, invalid_owner
from tests.unit.parts import resource

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u"}


def test_an_owner_in_another_namespace_is_an_event() -> None:
    node = Node(resource("configmaps"), "a", "c")
    about, message = invalid_owner(node, "own", OWNER)
    assert about == {"kind": "ConfigMap", "apiVersion": "v1", "name": "c", "uid": "own", "namespace": "a"}
    assert message == 'ownerRef [v1/Pod, namespace: a, name: o, uid: u] does not exist in namespace "a"'


def test_cluster_scoped_objects_have_no_namespace() -> None:
    assert "namespace" not in invalid_owner(Node(resource("nodes"), "", "n"), "own", OWNER)[0]
