"""Names that pods and volumes refer to (pkg/api/v1/pod `util.go`, pkg/api/v1/persistentvolume `util.go`)."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.registry import references

ENV = [
    {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s-env", "key": "k"}}},
    {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "c-env", "key": "k"}}},
    {"name": "C", "value": "x"},
]
FROM = [{"secretRef": {"name": "s-from"}}, {"configMapRef": {"name": "c-from"}}]
VOLUMES: list[dict[str, Any]] = [
    {"name": "a", "secret": {"secretName": "s-volume"}},
    {"name": "b", "projected": {"sources": [{"secret": {"name": "s-part"}}, {"configMap": {"name": "c-part"}}]}},
    {"name": "c", "configMap": {"name": "c-volume"}},
    {"name": "d", "csi": {"driver": "d", "nodePublishSecretRef": {"name": "s-csi"}}},
    {"name": "e", "azureFile": {"secretName": "s-azure"}},
    {"name": "f", "rbd": {"secretRef": {"name": "s-rbd"}}},
    {"name": "g", "persistentVolumeClaim": {"claimName": "p-named"}},
    {"name": "h", "ephemeral": {"volumeClaimTemplate": {}}},
    {"name": "i", "emptyDir": {}},
]


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": spec}


def test_each_reference_of_a_pod_is_found() -> None:
    whole = pod(
        imagePullSecrets=[{"name": "s-pull"}],
        initContainers=[{"name": "i", "env": ENV}],
        containers=[{"name": "c", "envFrom": FROM}],
        ephemeralContainers=[{"name": "e", "envFrom": [{"secretRef": {"name": "s-late"}}]}],
        volumes=VOLUMES,
        resourceClaims=[{"name": "r", "resourceClaimName": "named"}, {"name": "t"}, {"name": "u"}],
    )
    claims = [{"name": "t", "resourceClaimName": "made"}]
    extended = {"resourceClaimName": "extended"}
    whole["status"] = {"resourceClaimStatuses": claims, "extendedResourceClaimStatus": extended}
    secrets = {"s-pull", "s-env", "s-from", "s-late", "s-volume", "s-part", "s-csi", "s-azure", "s-rbd"}
    assert set(references.secrets(whole)) == secrets
    assert set(references.config_maps(whole)) == {"c-env", "c-from", "c-part", "c-volume"}
    assert list(references.claims(whole)) == ["p-named", "p-h"]
    assert list(references.resource_claims(whole)) == ["named", "made", "extended"]


def test_a_pod_without_references_has_none() -> None:
    empty = pod(containers=[{"name": "c"}], volumes=[{"name": "v", "hostPath": {"path": "/"}}])
    assert not list(references.secrets(empty))
    assert not list(references.config_maps(empty))
    assert references.any_object(empty) == ""


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({"serviceAccountName": "a"}, "serviceaccounts"),
        ({"imagePullSecrets": [{"name": "a"}]}, "secrets"),
        ({"containers": [{"env": ENV[1:]}]}, "configmaps"),
        ({"resourceClaims": [{"name": "r"}]}, "resourceclaims"),
        ({"volumes": [VOLUMES[6]]}, "persistentvolumeclaims"),
        ({"volumes": [VOLUMES[7]]}, "persistentvolumeclaims (via ephemeral volumes)"),
        ({"volumes": [{"name": "v", "csi": {"driver": "d"}}]}, "csidrivers (via CSI volumes)"),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "p"}}]}}]},
            "serviceaccounts (via projected volumes)",
        ),
        ({"volumes": [{"name": "v", "projected": {"sources": [{"clusterTrustBundle": {}}]}}]}, "clustertrustbundles"),
    ],
)
def test_any_reference_of_a_mirror_pod_is_named(spec: dict[str, Any], kind: str) -> None:
    assert references.any_object(pod(**spec)) == kind


def test_secrets_of_a_volume_are_those_that_a_node_needs() -> None:
    bound = {"claimRef": {"namespace": "ns", "name": "c"}}
    csi = {f"{kind}SecretRef": {"name": kind, "namespace": "x"} for kind in ("nodeStage", "controllerPublish")}
    assert list(references.volume_secrets({"spec": {**bound, "csi": csi}})) == [("x", "nodeStage")]
    assert list(references.volume_secrets({"spec": {**bound, "azureFile": {"secretName": "a"}}})) == [("ns", "a")]
    flex = {"secretRef": {"name": "f", "namespace": "y"}}
    assert list(references.volume_secrets({"spec": {**bound, "flexVolume": flex}})) == [("y", "f")]
