"""Labels that a kubelet may not set (k8s.io/kubelet `pkg/apis/well_known_labels.go`)."""

from __future__ import annotations

import pytest

from hydrofoil.admission.plugins.node_restriction import forbidden


@pytest.mark.parametrize(
    "key",
    [
        "node-restriction.kubernetes.io/a",
        "x.node-restriction.kubernetes.io/a",
        "kubernetes.io/other",
        "foo.k8s.io/a",
        "node-role.kubernetes.io/control-plane",
        "nodexkubelet.kubernetes.io/a",
        "xkubernetes.k8s.io/a",
    ],
)
def test_labels_of_kubernetes_are_not_set(key: str) -> None:
    assert forbidden({key: "a"}, {}) == [key]
    assert forbidden({}, {key: "a"}) == [key]
    assert forbidden({key: "a"}, {key: "b"}) == [key]
    assert forbidden({key: "a"}, {key: "a"}) == []


@pytest.mark.parametrize(
    "key",
    [
        "plain",
        "example.com/a",
        "notkubernetes.io/a",
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "a.kubelet.kubernetes.io/b",
        "node.kubernetes.io/any",
        "beta.kubernetes.io/arch",
    ],
)
def test_labels_of_kubelets_and_of_others_are(key: str) -> None:
    assert forbidden({key: "a"}, {}) == []


def test_all_are_named_in_order() -> None:
    assert forbidden({"b.k8s.io/x": "", "a.k8s.io/x": ""}, {}) == ["a.k8s.io/x", "b.k8s.io/x"]
