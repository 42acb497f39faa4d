"""The NodeRestriction admission plug-in: what a kubelet may write (plugin/pkg/admission/noderestriction)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.certificate_request import RequestError, subject
from hydrofoil.admission.node_tokens import check_audience
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Stored
from hydrofoil.go_text import quote
from hydrofoil.registry import references
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.write import Operation
from hydrofoil.request import node_of

RESTRICTED = "node-restriction.kubernetes.io"
OWN = frozenset(
    (
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
    )
)
"""Labels of Kubernetes that kubelets set."""
OWN_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")


def _within(domain: str, other: str) -> bool:
    return domain == other or domain.endswith(f".{other}")


def _is_forbidden(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    if not slash:
        return False
    if _within(domain, RESTRICTED):
        return True
    if not _within(domain, "kubernetes.io") and not _within(domain, "k8s.io"):
        return False
    return key not in OWN and not any(_within(domain, own) for own in OWN_DOMAINS)


def forbidden(new: Mapping[str, str], old: Mapping[str, str]) -> list[str]:
    """Return the keys that differ and that a kubelet may not change, sorted."""
    changed = {key for key in {*new, *old} if new.get(key) != old.get(key)}
    return sorted(filter(_is_forbidden, changed))


LEASES = "kube-node-lease"
SIGNERS = ("kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet")
"""The signers of kubelets."""
Object = dict[str, Any]
Result = Awaitable[None] | None


class NodeRestriction(Plugin):
    """Limit kubelets to their own node and its pods."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._checks: dict[tuple[str, str], Callable[[str, Attributes], Result]] = {
            ("", "pods"): self._pod,
            ("", "nodes"): self._node,
            ("", "persistentvolumeclaims"): self._claim,
            ("", "serviceaccounts"): self._token,
            ("coordination.k8s.io", "leases"): _lease,
            ("storage.k8s.io", "csinodes"): _csi_node,
            ("resource.k8s.io", "resourceslices"): _slice,
            ("certificates.k8s.io", "certificatesigningrequests"): _request,
            ("certificates.k8s.io", "podcertificaterequests"): self._pod_certificate,
        }

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage in self._checks

    def mutate(self, a: Attributes) -> Result:
        """Check a write of a kubelet. Raise ApiError 403, or 404 for a pod or node that does not exist."""
        node = node_of(a.user)
        if node is None:
            return None
        if not node:
            raise a.forbidden(f"could not determine node from user {quote(a.user.name)}")
        return self._checks[a.resource.storage](node, a)

    def _found(self, plural: str, namespace: str, name: str) -> Object:
        stored = self._objects.find("", plural, namespace, name)
        if stored is None:
            raise errors.not_found("", plural, name)
        found: Object = orjson.loads(stored.json)
        return found

    # ---- pods

    def _pod(self, node: str, a: Attributes) -> None:
        match a.subresource:
            case "":
                self._whole_pod(node, a)
            case "status":
                _pod_status(node, a)
            case "eviction":
                if a.operation != "CREATE":
                    raise a.forbidden(f"unexpected operation {a.operation}")
                name = a.name or a.object.metadata().name
                if not name:
                    raise a.forbidden("could not determine pod from request data")
                if _on(self._found("pods", a.namespace, name)) != node:
                    raise a.forbidden(f"node {node} can only evict pods with spec.nodeName set to itself")
            case other:
                text = f"unexpected pod subresource {quote(other)}, only 'status' and 'eviction' are allowed"
                raise a.forbidden(text)

    def _whole_pod(self, node: str, a: Attributes) -> None:
        this = quote(node)
        if a.operation == "CREATE":
            self._mirror(node, a, orjson.loads(a.object.json()))
        elif a.operation == "DELETE":
            if _on(_old(a)) != node:
                raise a.forbidden(f"node {this} can only delete pods with spec.nodeName set to itself")
        else:
            text = f"unexpected operation {quote(a.operation)}, node {this} can only create and delete mirror pods"
            raise a.forbidden(text)

    def _mirror(self, node: str, a: Attributes, pod: Object) -> None:
        """Check a new mirror pod: a kubelet may make no pod that lets it read anything."""
        this, metadata = quote(node), pod.get("metadata", {})
        if references.MIRROR not in metadata.get("annotations", {}):
            text = f"pod does not have {quote(references.MIRROR)} annotation, node {this} can only create mirror pods"
            raise a.forbidden(text)
        if _on(pod) != node:
            raise a.forbidden(f"node {this} can only create pods with spec.nodeName set to itself")
        owners = metadata.get("ownerReferences") or []
        if len(owners) > 1:
            raise a.forbidden(f"node {this} can only create pods with a single owner reference set to itself")
        owner = owners[0] if owners else {}
        if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
            raise a.forbidden(f"node {this} can only create pods with an owner reference set to itself")
        if not owner.get("controller"):
            raise a.forbidden(f"node {this} can only create pods with a controller owner reference set to itself")
        if owner.get("blockOwnerDeletion"):
            raise a.forbidden(f"node {this} must not set blockOwnerDeletion on an owner reference")
        uid = self._found("nodes", "", node)["metadata"]["uid"]
        if owner.get("uid", "") != uid:
            raise a.forbidden(f"node {node} UID mismatch: expected {owner.get('uid', '')} got {uid}")
        if kind := references.any_object(pod):
            raise a.forbidden(f"node {this} can not create pods that reference {kind}")

    # ---- nodes

    def _node(self, node: str, a: Attributes) -> None:
        this = quote(node)
        name = a.name or (a.object.metadata().name if a.draft is not None else "")
        if name != node:
            raise a.forbidden(f"node {this} is not allowed to modify node {quote(name)}")
        if a.operation == "DELETE":
            return
        new = orjson.loads(a.object.json())
        spec, labels = new.get("spec", {}), new["metadata"].get("labels", {})
        if a.operation == "CREATE":
            if spec.get("configSource") is not None:
                raise a.forbidden(f"node {this} is not allowed to create pods with a non-nil configSource")
            if wrong := forbidden(labels, {}):
                raise a.forbidden(f"node {this} is not allowed to set the following labels: {', '.join(wrong)}")
            return
        old = _old(a)
        was = old.get("spec", {})
        if spec.get("configSource") is not None and spec["configSource"] != was.get("configSource"):
            raise a.forbidden(f"node {this} is not allowed to update configSource to a new non-nil configSource")
        if (spec.get("taints") or []) != (was.get("taints") or []):
            raise a.forbidden(f"node {this} is not allowed to modify taints")
        if (new["metadata"].get("ownerReferences") or []) != (old["metadata"].get("ownerReferences") or []):
            raise a.forbidden(f"node {this} is not allowed to modify ownerReferences")
        if wrong := forbidden(labels, old["metadata"].get("labels", {})):
            raise a.forbidden(f"is not allowed to modify labels: {', '.join(wrong)}")

    # ---- others

    def _claim(self, node: str, a: Attributes) -> None:
        if a.subresource != "status":
            raise a.forbidden("may only update PVC status")
        if a.operation != "UPDATE":
            raise a.forbidden(f"unexpected operation {quote(a.operation)}")
        if _comparable_claim(orjson.loads(a.object.json())) != _comparable_claim(_old(a)):
            text = "is not allowed to update fields other than status.quantity and status.conditions"
            raise a.forbidden(f"node {quote(node)} {text}")

    def _token(self, node: str, a: Attributes) -> Result:
        """Check a request for a token: it is bound to a pod on the node, for an audience that the pod uses."""
        if a.operation != "CREATE" or a.subresource != "token":
            return None
        request = orjson.loads(a.object.json())
        reference = request.get("spec", {}).get("boundObjectRef") or {}
        name, uid = reference.get("name", ""), reference.get("uid", "")
        if (reference.get("apiVersion"), reference.get("kind")) != ("v1", "Pod") or not name:
            raise a.forbidden("node requested token not bound to a pod")
        if not uid:
            raise a.forbidden("node requested token with a pod binding without a uid")
        pod = self._found("pods", a.namespace, name)
        if pod["metadata"]["uid"] != uid:
            text = f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            raise a.forbidden(text + "The object might have been deleted and then recreated")
        if _on(pod) != node:
            raise a.forbidden("node requested token bound to a pod scheduled on a different node")
        return check_audience(self._objects, a, pod, request["spec"].get("audiences") or [])

    def _pod_certificate(self, node: str, a: Attributes) -> None:
        """Check a request for a certificate of a pod: everything in it is as it is stored."""
        if a.operation != "CREATE":
            raise a.forbidden(f"unexpected operation {a.operation}")
        if a.subresource:
            raise a.forbidden(f"unexpected subresource {a.subresource}")
        spec = orjson.loads(a.object.json()).get("spec", {})
        if spec.get("nodeName", "") != node:
            text = f"PodCertificateRequest.Spec.NodeName={quote(spec.get('nodeName', ''))}"
            raise a.forbidden(f"{text}, which is not the requesting node {quote(node)}")
        pod = self._found("pods", a.namespace, spec.get("podName", ""))
        shown = quote(f"{a.namespace}/{spec.get('podName', '')}")
        if _on(pod) != node:
            text = f"is not running on node {quote(node)} named in the PodCertificateRequest"
            raise a.forbidden(f"pod {shown} {text}")
        if references.MIRROR in pod["metadata"].get("annotations", {}):
            raise a.forbidden(f"pod {shown} is a mirror pod")
        account = pod.get("spec", {}).get("serviceAccountName", "")
        if spec.get("serviceAccountName", "") != account:
            text = f"contains serviceAccountName ({quote(spec.get('serviceAccountName', ''))})"
            raise a.forbidden(
                f"PodCertificateRequest for pod {shown} {text} that differs from running pod ({quote(account)})"
            )
        uids = (
            ("node UID", "nodeUID", self._found("nodes", "", node)),
            ("pod UID", "podUID", pod),
            ("service account UID", "serviceAccountUID", self._found("serviceaccounts", a.namespace, account)),
        )
        for what, member, stored in uids:
            if spec.get(member, "") != stored["metadata"]["uid"]:
                text = f"names {what} {quote(spec.get(member, ''))}, which differs from that in record"
                raise a.forbidden(f"PodCertificateRequest for pod {shown} {text}")


def _on(pod: Object) -> str:
    """Return the node of a pod."""
    found: str = pod.get("spec", {}).get("nodeName", "")
    return found


def _old(a: Attributes) -> Object:
    stored: Stored | None = a.old
    assert stored is not None, "an update or deletion has an old version"
    found: Object = orjson.loads(stored.json)
    return found


def _pod_status(node: str, a: Attributes) -> None:
    this = quote(node)
    if a.operation != "UPDATE":
        raise a.forbidden(f"unexpected operation {quote(a.operation)}")
    old, new = _old(a), orjson.loads(a.object.json())
    if _on(old) != node:
        raise a.forbidden(f"node {this} can only update pod status for pods with spec.nodeName set to itself")
    if old["metadata"].get("labels", {}) != new["metadata"].get("labels", {}):
        raise a.forbidden(f"node {this} cannot update labels through pod status")
    was, now = old.get("status", {}), new.get("status", {})
    if _claim_names(was) != _claim_names(now):
        raise a.forbidden(f"node {this} cannot update resource claim statues")
    if was.get("extendedResourceClaimStatus") != now.get("extendedResourceClaimStatus"):
        raise a.forbidden(f"node {this} cannot update extended resource claim status")


def _claim_names(status: Object) -> list[tuple[Any, Any]]:
    return [(s.get("name"), s.get("resourceClaimName")) for s in status.get("resourceClaimStatuses") or ()]


def _comparable_claim(claim: Object) -> Object:
    """Return what a kubelet may not change of a claim."""
    ignored = ("resourceVersion", "managedFields")
    claim["metadata"] = {key: value for key, value in claim["metadata"].items() if key not in ignored}
    own = ("capacity", "conditions", "allocatedResourceStatuses", "allocatedResources")
    claim["status"] = {key: value for key, value in (claim.get("status") or {}).items() if key not in own}
    return claim


def _lease(node: str, a: Attributes) -> None:
    if a.namespace != LEASES:
        raise a.forbidden(f'can only access leases in the "{LEASES}" system namespace')
    if _node_name(a) != node:
        raise a.forbidden("can only access node lease with the same name as the requesting node")


def _csi_node(node: str, a: Attributes) -> None:
    if _node_name(a) != node:
        raise a.forbidden("can only access CSINode with the same name as the requesting node")


def _node_name(a: Attributes) -> str:
    return a.object.metadata().name if a.operation == "CREATE" else a.name or (a.old.name if a.old else "")


def _slice(node: str, a: Attributes) -> None:
    if a.operation == "CREATE":
        on = orjson.loads(a.object.get(["spec", "nodeName"]) or b'""')
        word = "create"
    elif a.operation == "DELETE":
        on, word = _on(_old(a)), "delete"
    else:
        return
    if on != node:
        raise a.forbidden(f"can only {word} ResourceSlice with the same NodeName as the requesting node")


def _request(node: str, a: Attributes) -> Result:
    """Check the name in a request for a certificate of a kubelet."""
    if a.operation != "CREATE" or a.subresource:
        return None
    spec = orjson.loads(a.object.get(["spec"]) or b"{}")
    return _named_itself(node, a, spec.get("request") or "") if spec.get("signerName") in SIGNERS else None


async def _named_itself(node: str, a: Attributes, request: str) -> None:
    try:
        name = (await subject(request)).name
    except RequestError as e:
        raise a.forbidden(f"unable to parse csr: {e}") from None
    if name != f"system:node:{node}":
        raise a.forbidden(f"can only create a node CSR with CN=system:node:{node}")
