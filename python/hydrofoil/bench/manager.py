"""The informers of a controller manager."""

from __future__ import annotations

MANAGER = (
    *(f"/api/v1/{name}" for name in (
        "configmaps", "endpoints", "events", "limitranges", "namespaces", "nodes", "persistentvolumeclaims",
        "persistentvolumes", "pods", "podtemplates", "replicationcontrollers", "resourcequotas", "secrets",
        "serviceaccounts", "services",
    )),
    *(f"/apis/{name}" for name in (
        "admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        "admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
        "admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        "apiextensions.k8s.io/v1/customresourcedefinitions",
        "apiregistration.k8s.io/v1/apiservices",
        "apps/v1/controllerrevisions", "apps/v1/daemonsets", "apps/v1/deployments", "apps/v1/replicasets",
        "apps/v1/statefulsets",
        "autoscaling/v2/horizontalpodautoscalers",
        "batch/v1/cronjobs", "batch/v1/jobs",
        "certificates.k8s.io/v1/certificatesigningrequests",
        "coordination.k8s.io/v1/leases",
        "discovery.k8s.io/v1/endpointslices",
        "flowcontrol.apiserver.k8s.io/v1/flowschemas", "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
        "networking.k8s.io/v1/ingressclasses", "networking.k8s.io/v1/ingresses", "networking.k8s.io/v1/ipaddresses",
        "networking.k8s.io/v1/networkpolicies", "networking.k8s.io/v1/servicecidrs",
        "node.k8s.io/v1/runtimeclasses",
        "policy/v1/poddisruptionbudgets",
        "rbac.authorization.k8s.io/v1/clusterrolebindings", "rbac.authorization.k8s.io/v1/clusterroles",
        "rbac.authorization.k8s.io/v1/rolebindings", "rbac.authorization.k8s.io/v1/roles",
        "scheduling.k8s.io/v1/priorityclasses",
        "storage.k8s.io/v1/csidrivers", "storage.k8s.io/v1/csinodes", "storage.k8s.io/v1/csistoragecapacities",
        "storage.k8s.io/v1/storageclasses", "storage.k8s.io/v1/volumeattachments",
    )),
)  # fmt: skip
"""The collections that the informers of kube-controller-manager watch."""
