"""Whether an object of a dump is there already: what a server assigns by itself does not count."""

from __future__ import annotations

from typing import Any

SERVER_SIDE = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
)
"""Members of metadata that a server assigns; references to owners have uids of that server."""
NAMESPACES = frozenset(("default", "kube-system", "kube-public", "kube-node-lease"))
Object = dict[str, Any]


def same_content(one: Object, other: Object, *, status: bool = True) -> bool:
    """Report whether two objects of a name are equal but for what a server assigns; `status` counts, or not."""
    return _content(one, status=status) == _content(other, status=status)


def same_state(one: Object, other: Object) -> bool:
    """Report whether two objects are equal in all but the resource version, and so are one and the same."""
    return _content(one, names=("resourceVersion",)) == _content(other, names=("resourceVersion",))


def _content(content: Object, *, status: bool = True, names: tuple[str, ...] = SERVER_SIDE) -> Object:
    metadata = {name: value for name, value in content["metadata"].items() if name not in names and value}
    left_out = {"apiVersion", "kind"} if status else {"apiVersion", "kind", "status"}
    if names is SERVER_SIDE and content.get("aggregationRule"):
        # A controller gathers them from other roles.
        left_out.add("rules")
    rest = {name: value for name, value in content.items() if name not in left_out and value not in ({}, [], None)}
    return {**rest, "metadata": metadata, "owners": len(content["metadata"].get("ownerReferences") or ())}


def is_own_object(group: str, kind: str, namespace: str, name: str, content: Object) -> bool:
    """Report whether an object says something of the server itself: its addresses, authority, and first day.

    Each server has its own, which an import leaves alone.
    """
    if kind in ("Service", "Endpoints", "EndpointSlice"):
        return (namespace, name) == ("default", "kubernetes")
    if kind == "ConfigMap" and not group:
        if namespace == "kube-system":
            own = ("extension-apiserver-authentication", "kube-apiserver-legacy-service-account-token-tracking")
            return name in own or name == "kube-root-ca.crt"
        return name == "kube-root-ca.crt"
    if (group, kind) == ("apiregistration.k8s.io", "APIService"):
        return not (content.get("spec") or {}).get("service")
    if (group, kind) == ("coordination.k8s.io", "Lease"):
        return "apiserver.kubernetes.io/identity" in (content["metadata"].get("labels") or {})
    if (group, kind) == ("networking.k8s.io", "ServiceCIDR"):
        return name == "kubernetes"
    if (group, kind) == ("networking.k8s.io", "IPAddress"):
        parent = (content.get("spec") or {}).get("parentRef") or {}
        return (parent.get("namespace"), parent.get("name")) == ("default", "kubernetes")
    return False


def is_first_object(group: str, kind: str, name: str, content: Object) -> bool:
    """Report whether every server makes such an object for itself: nothing refers to its uid."""
    metadata = content["metadata"]
    if not group:
        return (kind == "Namespace" and name in NAMESPACES) or (kind == "ServiceAccount" and name == "default")
    if group == "rbac.authorization.k8s.io":
        return (metadata.get("labels") or {}).get("kubernetes.io/bootstrapping") == "rbac-defaults"
    if group == "flowcontrol.apiserver.k8s.io":
        return "apf.kubernetes.io/autoupdate-spec" in (metadata.get("annotations") or {})
    return kind == "PriorityClass" and name.startswith("system-")
