"""The node in the bytes of a pod."""

from __future__ import annotations

import orjson
import pytest

from hydrofoil.apis.catalog import Catalog
from hydrofoil.authorization.node.pods import Placement, references_of_pod
from hydrofoil.engine import Stored

PODS = Catalog().find("", "v1", "pods")


def stored(**pod: object) -> Stored:
    assert PODS is not None
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, **pod}
    return PODS.native.decode(orjson.dumps(body), "json")[0].preview(1)


@pytest.mark.parametrize(
    ("pod", "node"),
    [
        ({"spec": {"nodeName": "n1"}}, "n1"),
        ({"spec": {}}, ""),
        ({"spec": {}, "status": {"nominatedNodeName": "n2"}}, ""),
        ({"metadata": {"name": "p", "annotations": {"a": '{"nodeName":"n2"}'}}, "spec": {"nodeName": "n1"}}, "n1"),
        ({"metadata": {"name": "p", "annotations": {"nodeName ": "n2", "x": '"nodeName":"n3"'}}, "spec": {}}, ""),
        ({"metadata": {"name": "p", "labels": {"nodeName": "n2"}}, "spec": {"nodeName": "n1"}}, "n1"),
        ({"metadata": {"name": "p", "annotations": {"nodeName": "n2"}}, "spec": {}}, ""),
        ({"metadata": {"name": "p", "annotations": {"nodeName": "n2,metadata.name=p"}}, "spec": {}}, ""),
        ({"spec": {"nodeSelector": {"nodeName": "n2"}}}, ""),
    ],
)
def test_the_node_is_the_one_in_the_spec(pod: dict[str, object], node: str) -> None:
    """A label or an annotation of that name is not it."""
    assert PODS is not None
    placement = Placement(PODS.native)
    for _ in range(2):
        assert placement.of(stored(**pod)) == node


def test_a_mirror_pod_refers_to_nothing() -> None:
    spec = {"serviceAccountName": "a"}
    assert references_of_pod(stored(spec=spec)) == {("serviceaccounts", "d", "a")}
    mirror = {"name": "p", "namespace": "d", "annotations": {"kubernetes.io/config.mirror": "x"}}
    assert references_of_pod(stored(metadata=mirror, spec=spec)) == frozenset()
