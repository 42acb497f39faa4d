"""Attachments of volumes, and claims of devices (`pkg/controller/volume/attachdetach`, `resourceclaim`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.testing.remote_server import RemoteServer
from tests.cluster.objects import condition, pod

Object = dict[str, Any]
SIZE = {"storage": "1Gi"}
TEMPLATE: Object = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "gadget", "namespace": "default"},
    "spec": {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "example.com"}}]}},
    },
}


def bound(name: str) -> list[Object]:
    """Return a volume of a CSI driver, and a claim that it is for."""
    modes = ["ReadWriteOnce"]
    volume = {
        "capacity": SIZE,
        "accessModes": modes,
        "storageClassName": "c",
        "claimRef": {"namespace": "default", "name": name},
    }
    claim = {"accessModes": modes, "storageClassName": "c", "resources": {"requests": SIZE}}
    csi = {"driver": "example.com", "volumeHandle": name}
    return [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {**volume, "csi": csi}},
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": "default"},
            "spec": claim,
        },
    ]


def mounting(name: str, claim: str) -> Object:
    """Return a pod with a claim."""
    return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}])


def test_a_volume_is_attached_to_the_nodes_of_its_pods(cluster: RemoteServer) -> None:
    cluster.apply(*bound("data"), mounting("p", "data"))
    node = cluster.get("pods/p")["spec"]["nodeName"]
    (attachment,) = cluster.list("volumeattachments")
    assert attachment["spec"] == {
        "attacher": "example.com",
        "nodeName": node,
        "source": {"persistentVolumeName": "data"},
    }
    cluster.delete("pods/p")
    assert cluster.list("volumeattachments") == []


def test_a_driver_that_attaches_nothing_has_no_attachments(cluster: RemoteServer) -> None:
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "example.com"}}
    cluster.apply({**driver, "spec": {"attachRequired": False}}, *bound("data"), mounting("p", "data"))
    assert cluster.get("pods/p")["status"]["phase"] == "Running"
    assert cluster.list("volumeattachments") == []


def test_a_pod_gets_the_claim_of_its_template(cluster: RemoteServer) -> None:
    given = pod("p", resourceClaims=[{"name": "own", "resourceClaimTemplateName": "gadget"}])
    cluster.apply(given)
    reasons = [event["reason"] for event in cluster.events("pods/p") if event["type"] == "Warning"]
    assert "FailedResourceClaimCreation" in reasons
    cluster.apply(TEMPLATE)
    (claim,) = cluster.list("resourceclaims")
    assert claim["metadata"]["name"].startswith("p-own-") and claim["metadata"]["labels"] == {"a": "b"}
    assert claim["spec"]["devices"]["requests"][0]["name"] == "r"
    item = cluster.get("pods/p")
    assert item["status"]["resourceClaimStatuses"] == [{"name": "own", "resourceClaimName": claim["metadata"]["name"]}]
    assert "cannot allocate all claims" in condition(item, "PodScheduled")["message"]
    cluster.delete("pods/p")
    cluster.clock.advance("1m")
    assert cluster.list("resourceclaims") == []
