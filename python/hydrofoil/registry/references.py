"""Names of the objects that pods and volumes refer to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a pod that only mirrors one of its kubelet."""
_SECRET_REFS = ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos")
"""Volume sources with a `secretRef`."""
_PUBLISHED = ("nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef")
"""The secrets of a CSI volume that its node reads; those of its controller are not visible there."""
Object = dict[str, Any]


def _containers(spec: Object) -> Iterator[Object]:
    for member in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(member) or ()


def secrets(pod: Object) -> Iterator[str]:
    """Yield the names of secrets in the namespace of a pod (pkg/api/v1/pod `VisitPodSecretNames`)."""
    spec = pod.get("spec", {})
    found = [reference.get("name") for reference in spec.get("imagePullSecrets") or ()]
    found += _from_environment(spec, "secretKeyRef", "secretRef")
    for volume in spec.get("volumes") or ():
        found.append(volume.get("secret", {}).get("secretName"))
        found.append(volume.get("azureFile", {}).get("secretName"))
        found.append(volume.get("csi", {}).get("nodePublishSecretRef", {}).get("name"))
        found += [volume.get(kind, {}).get("secretRef", {}).get("name") for kind in _SECRET_REFS]
        found += [s.get("secret", {}).get("name") for s in volume.get("projected", {}).get("sources") or ()]
    return (name for name in found if name)


def config_maps(pod: Object) -> Iterator[str]:
    """Yield the names of config maps in the namespace of a pod (`VisitPodConfigmapNames`)."""
    spec = pod.get("spec", {})
    found = _from_environment(spec, "configMapKeyRef", "configMapRef")
    for volume in spec.get("volumes") or ():
        found.append(volume.get("configMap", {}).get("name"))
        found += [s.get("configMap", {}).get("name") for s in volume.get("projected", {}).get("sources") or ()]
    return (name for name in found if name)


def _from_environment(spec: Object, key: str, whole: str) -> list[Any]:
    found = []
    for container in _containers(spec):
        found += [e.get("valueFrom", {}).get(key, {}).get("name") for e in container.get("env") or ()]
        found += [e.get(whole, {}).get("name") for e in container.get("envFrom") or ()]
    return found


def claims(pod: Object) -> Iterator[str]:
    """Yield the names of persistent volume claims, those made for ephemeral volumes too."""
    for volume in pod.get("spec", {}).get("volumes") or ():
        if name := volume.get("persistentVolumeClaim", {}).get("claimName"):
            yield name
        elif "ephemeral" in volume:
            yield f"{pod['metadata'].get('name', '')}-{volume['name']}"


def resource_claims(pod: Object) -> Iterator[str]:
    """Yield the names of resource claims that exist (dynamic-resource-allocation `resourceclaim.Name`)."""
    status = pod.get("status", {})
    made = {s.get("name"): s.get("resourceClaimName") for s in status.get("resourceClaimStatuses") or ()}
    for claim in pod.get("spec", {}).get("resourceClaims") or ():
        if name := claim.get("resourceClaimName") or made.get(claim.get("name")):
            yield name
    if name := (status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName"):
        yield name


def volume_secrets(volume: Object) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of the secrets that a node needs for a bound volume (`VisitPVSecretNames`)."""
    spec = volume.get("spec", {})
    bound = (spec.get("claimRef") or {}).get("namespace", "")
    if azure := spec.get("azureFile"):
        yield azure.get("secretNamespace") or bound, azure.get("secretName", "")
    for kind in _SECRET_REFS:
        if reference := spec.get(kind, {}).get("secretRef"):
            yield reference.get("namespace") or bound, reference.get("name", "")
    for member in _PUBLISHED:
        if reference := spec.get("csi", {}).get(member):
            yield reference.get("namespace", ""), reference.get("name", "")


def any_object(pod: Object) -> str:
    """Return a kind of object that a pod refers to; empty if it needs none (pkg/api/pod `HasAPIObjectReference`)."""
    spec = pod.get("spec", {})
    if spec.get("serviceAccountName"):
        return "serviceaccounts"
    if next(secrets(pod), ""):
        return "secrets"
    if next(config_maps(pod), ""):
        return "configmaps"
    if spec.get("resourceClaims"):
        return "resourceclaims"
    for volume in spec.get("volumes") or ():
        for kind, shown in _SOURCES.items():
            if kind in volume:
                return shown
        for source in volume.get("projected", {}).get("sources") or ():
            for kind, shown in _PROJECTED.items():
                if kind in source:
                    return shown
    return ""


_SOURCES = {
    "configMap": "configmaps (via configmap volumes)",
    "secret": "secrets (via secret volumes)",
    "csi": "csidrivers (via CSI volumes)",
    "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": "persistentvolumeclaims",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "azureFile": "secrets (via azureFile volumes)",
}
_PROJECTED = {
    "configMap": "configmaps (via projected volumes)",
    "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)",
    "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}
