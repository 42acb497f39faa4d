"""The decisions of the authorizer Node (plugin/pkg/auth/authorizer/node `node_authorizer.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from hydrofoil.authorization.node.pods import Node, Pods
from hydrofoil.authorization.node.volumes import Volumes
from hydrofoil.authorization.selectors import selection
from hydrofoil.engine import Stored
from hydrofoil.go_text import quote
from hydrofoil.registry.objects import Objects
from hydrofoil.request import ALLOWED, NO_OPINION, RequestInfo, Rules, StandingVerdict, User, Verdict, node_of
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

LEASES = "kube-node-lease"
Decision = Verdict | Awaitable[Verdict]
READ = frozenset(("get", "list", "watch"))
OWN = frozenset(("get", "create", "update", "patch", "delete"))
RULES: dict[tuple[str, str], frozenset[str]] = {
    ("authentication.k8s.io", "tokenreviews"): frozenset(("create",)),
    ("authorization.k8s.io", "subjectaccessreviews"): frozenset(("create",)),
    ("authorization.k8s.io", "localsubjectaccessreviews"): frozenset(("create",)),
    ("", "services"): READ,
    ("", "events"): frozenset(("create", "update", "patch")),
    ("", "endpoints"): frozenset(("get",)),
    ("certificates.k8s.io", "certificatesigningrequests"): READ | {"create"},
    ("storage.k8s.io", "csidrivers"): READ,
    ("node.k8s.io", "runtimeclasses"): READ,
}
"""The verbs of every node (`bootstrappolicy.NodeRules`), where a resource has no decision of its own below."""
TRUST_BUNDLES = ("certificates.k8s.io", "clustertrustbundles")
REQUESTS = ("certificates.k8s.io", "podcertificaterequests")


def no_opinion(reason: str = "") -> Verdict:
    """Return no opinion, with a reason."""
    return Verdict(reason=reason)


def no_relation(node: str) -> Verdict:
    """Return no opinion on an object that no pod of a node refers to."""
    return Verdict(reason=f"no relationship found between node '{node}' and this object")


class NodeAuthorizer:
    """Decide on requests of kubelets."""

    def __init__(self, objects: Objects, hub: Hub) -> None:
        self._objects = objects
        catalog = objects.catalog
        pods, volumes = catalog.find("", "v1", "pods"), catalog.find("", "v1", "persistentvolumes")
        assert pods is not None and volumes is not None, "these are always served"
        self._pods = Pods(objects.collection(pods), pods.native, hub)
        self.volumes = Followed(objects.collection(volumes), volumes.native, Volumes(), hub)
        self._special: dict[tuple[str, str], Callable[[str, RequestInfo], Decision]] = {
            ("", "secrets"): self._read,
            ("", "configmaps"): self._read,
            ("", "persistentvolumeclaims"): self._claim,
            ("", "persistentvolumes"): self._get,
            ("resource.k8s.io", "resourceclaims"): self._get,
            ("storage.k8s.io", "volumeattachments"): self._get,
            ("", "serviceaccounts"): self._account,
            ("coordination.k8s.io", "leases"): _lease,
            ("storage.k8s.io", "csinodes"): _csi_node,
            ("resource.k8s.io", "resourceslices"): self._slice,
            ("", "nodes"): _node,
            ("", "pods"): self._pod,
        }
        self._rules = dict(RULES)
        if catalog.collected(*TRUST_BUNDLES) is not None:
            self._rules[TRUST_BUNDLES] = READ
        if catalog.collected(*REQUESTS) is not None:
            self._special[REQUESTS] = self._certificate

    async def start(self) -> None:
        """Read the volumes, and begin with the pods. Raise the log's error."""
        await self.volumes.fresh()
        self._pods.begin()

    def close(self) -> None:
        """Stop following."""
        self._pods.end()
        self.volumes.end()

    def rules(self, user: User, namespace: str) -> Rules:
        """Return no rules: those of a node cannot be listed."""
        if node_of(user) is None:
            return Rules()
        return Rules(incomplete=True, error="node authorizer does not support user rule resolution")

    def standing(self, user: User, info: RequestInfo) -> StandingVerdict | None:
        """Return no opinion for all but nodes; what they may read changes with their pods."""
        return StandingVerdict(allowed=False) if node_of(user) is None else None

    def authorize(self, user: User, info: RequestInfo) -> Decision:
        """Return the decision on a request; an awaitable only for the first requests of a node."""
        node = node_of(user)
        if node is None:
            return NO_OPINION
        if not node:
            return no_opinion(f"unknown node for user {quote(user.name)}")
        if not info.resourceful:
            return NO_OPINION
        resource = (info.group, info.resource)
        if (special := self._special.get(resource)) is not None:
            return special(node, info)
        verbs = self._rules.get(resource, ())
        return ALLOWED if info.verb in verbs and not info.subresource else NO_OPINION

    def _read(self, node: str, info: RequestInfo) -> Decision:
        """Decide on reading one object (`authorizeReadNamespacedObject`)."""
        if info.verb not in READ:
            return no_opinion("can only read resources of this type")
        if info.subresource:
            return no_opinion("cannot read subresource")
        if not info.namespace:
            return no_opinion("can only read namespaced object of this type")
        return self._related(node, info)

    def _get(self, node: str, info: RequestInfo) -> Decision:
        if info.verb != "get":
            return no_opinion("can only get individual resources of this type")
        if info.subresource:
            return no_opinion("cannot get subresource")
        return self._related(node, info)

    def _claim(self, node: str, info: RequestInfo) -> Decision:
        if info.subresource != "status":
            return self._get(node, info)
        if info.verb not in ("update", "patch"):
            return no_opinion("can only get/update/patch this type")
        return self._related(node, info)

    def _account(self, node: str, info: RequestInfo) -> Decision:
        if info.verb == "get" and not info.subresource:
            return self._read(node, info)
        if info.verb != "create" or not info.name:
            return no_opinion("can only create tokens for individual service accounts")
        if info.subresource != "token":
            return no_opinion("can only create token subresource of serviceaccount")
        return self._related(node, info)

    def _slice(self, node: str, info: RequestInfo) -> Decision:
        if info.subresource:
            return no_opinion("cannot authorize ResourceSlice subresources")
        if info.verb == "create":
            # NodeRestriction, which sees the object, checks the name of its node.
            return ALLOWED
        if info.verb in OWN:
            return self._related(node, info)
        if info.verb in ("watch", "list", "deletecollection"):
            if _limited(info, node):
                return ALLOWED
            return no_opinion("can only list/watch/deletecollection resourceslices with nodeName field selector")
        verbs = "get, watch, list, create, update, patch, delete, deletecollection"
        return no_opinion(f"only the following verbs are allowed for a ResourceSlice: {verbs}")

    def _certificate(self, node: str, info: RequestInfo) -> Decision:
        if info.subresource:
            return no_opinion("nodes may not access the status subresource of PodCertificateRequests")
        if info.verb == "create":
            return ALLOWED
        if info.verb == "get":
            return self._related(node, info)
        if info.verb in ("list", "watch"):
            if _limited(info, node):
                return ALLOWED
            return no_opinion("can only list/watch podcertificaterequests with nodeName field selector")
        return no_opinion(f"nodes may not {info.verb} podcertificaterequests")

    def _pod(self, node: str, info: RequestInfo) -> Decision:
        match info.subresource, info.verb:
            case "", "get":
                return self._get(node, info)
            case "", "list" | "watch":
                if _limited(info, node):
                    return ALLOWED
                if info.subject:
                    return self._related(node, info)
                return no_opinion("can only list/watch pods with spec.nodeName field selector")
            case ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create"):
                # NodeRestriction limits these to pods of the node.
                return ALLOWED
        return NO_OPINION

    def _related(self, node: str, info: RequestInfo) -> Decision:
        """Decide by the references of the pods on a node (`hasPathFrom`)."""
        name = info.subject
        if not name:
            return no_opinion("No Object name found")
        if info.resource in _BY_THEMSELVES:
            found = self._object(info, name)
            on = "" if found is None else orjson.loads(found.json).get("spec", {}).get("nodeName")
            return ALLOWED if on == node else no_relation(node)
        known = self._pods.known(node)
        return self._first(node, info, name) if known is None else self._path(known, node, info, name)

    async def _first(self, node: str, info: RequestInfo, name: str) -> Verdict:
        return self._path(await self._pods.node(node), node, info, name)

    def _path(self, pods: Node, node: str, info: RequestInfo, name: str) -> Verdict:
        """Look for a way from an object to a pod on a node."""
        counts = pods.counts
        if info.resource == "persistentvolumes":
            claim = self.volumes.state.claims.get(name)
            found = claim is not None and ("persistentvolumeclaims", *claim) in counts
        elif ((info.resource, info.namespace, name)) in counts:
            found = True
        elif info.resource == "secrets":
            bound = self.volumes.state.with_secret(info.namespace, name)
            found = any(("persistentvolumeclaims", *claim) in counts for claim in bound)
        else:
            found = False
        return ALLOWED if found else no_relation(node)

    def _object(self, info: RequestInfo, name: str) -> Stored | None:
        resource = self._objects.catalog.collected(info.group, info.resource)
        if resource is None:
            return None
        return self._objects.collection(resource).get(resource.native, info.namespace, name)


_BY_THEMSELVES = frozenset(("pods", "volumeattachments", "resourceslices", "podcertificaterequests"))
"""Objects that name their node."""


def _limited(info: RequestInfo, node: str) -> bool:
    """Report whether a field selector limits a request to a node."""
    wanted: Any = ("spec.nodeName", "In", (node,))
    return any((r.key, r.operator, r.values) == wanted for r in selection(info).fields)


def _lease(node: str, info: RequestInfo) -> Verdict:
    if info.verb not in OWN:
        return no_opinion("can only get, create, update, patch, or delete a node lease")
    if info.namespace != LEASES:
        return no_opinion(f'can only access leases in the "{LEASES}" system namespace')
    if info.verb != "create" and info.name != node:
        return no_opinion("can only access node lease with the same name as the requesting node")
    return ALLOWED


def _csi_node(node: str, info: RequestInfo) -> Verdict:
    if info.verb not in OWN:
        return no_opinion("can only get, create, update, patch, or delete a CSINode")
    if info.subresource:
        return no_opinion("cannot authorize CSINode subresources")
    if info.verb != "create" and info.name != node:
        return no_opinion("can only access CSINode with the same name as the requesting node")
    return ALLOWED


def _node(node: str, info: RequestInfo) -> Verdict:
    if not info.subresource and info.verb in READ:
        # By name, stored or not: a kubelet looks for its node before it makes it.
        name = info.subject
        if name == node:
            return ALLOWED
        if not name:
            return no_opinion(f"node '{node}' cannot read all nodes, only its own Node object")
        return no_opinion(f"node '{node}' cannot read '{name}', only its own Node object")
    writes = ("create", "update", "patch") if not info.subresource else ("update", "patch")
    # NodeRestriction limits these to the own node.
    return ALLOWED if info.subresource in ("", "status") and info.verb in writes else NO_OPINION
