"""Pods of a daemon set, and the nodes that they may run on (`pkg/controller/daemon`, util/daemonset_util.go)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import orjson

from hydrofoil.controllers.objects.daemon_sets import DaemonSet
from hydrofoil.controllers.objects.node_selectors import REQUIRED, RequiredNodeAffinity
from hydrofoil.controllers.objects.nodes import NO_EXECUTE, NO_SCHEDULE, Node, Toleration
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import Pod, PodSpec
from hydrofoil.controllers.objects.revisions import REVISION_HASH
from hydrofoil.controllers.pod_control import pod_from_template

API_VERSION, KIND = "apps/v1", "DaemonSet"
TEMPLATE_GENERATION = "pod-template-generation"
"""The deprecated label of pods with the number of their template."""
NODE_NAME = "metadata.name"
TOLERATED = (
    ("node.kubernetes.io/not-ready", NO_EXECUTE),
    ("node.kubernetes.io/unreachable", NO_EXECUTE),
    ("node.kubernetes.io/disk-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/memory-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/pid-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/unschedulable", NO_SCHEDULE),
)
"""The taints that all pods of daemon sets tolerate, by key and effect."""
NETWORK_UNAVAILABLE = ("node.kubernetes.io/network-unavailable", NO_SCHEDULE)
"""The one that those on the network of their node tolerate as well."""


def add_tolerations(tolerations: Iterable[dict[str, Any]], *, host_network: bool) -> list[dict[str, Any]]:
    """Return the tolerations of a pod with those of daemon sets (`AddOrUpdateDaemonPodTolerations`).

    One like them is replaced in its place: it may have a time.
    """
    found = list(tolerations)
    for key, effect in (*TOLERATED, *((NETWORK_UNAVAILABLE,) if host_network else ())):
        made = {"key": key, "operator": "Exists", "effect": effect}
        for place, present in enumerate(found):
            if {name: present.get(name) or None for name in ("key", "operator", "effect", "value")} == {
                **made,
                "value": None,
            }:
                found[place] = made
                break
        else:
            found.append(made)
    return found


class Placement:
    """The nodes that pods of a template may run on (`NodeShouldRunDaemonPod`)."""

    def __init__(self, found: DaemonSet) -> None:
        value: dict[str, Any] = orjson.loads(bytes(found.spec.template.spec))
        tolerations = add_tolerations(value.get("tolerations") or (), host_network=bool(value.get("hostNetwork")))
        spec = msgspec.convert({**value, "tolerations": tolerations}, PodSpec)
        self._node_name = spec.node_name
        self._affinity = RequiredNodeAffinity(spec)
        self._tolerations: Sequence[Toleration] = spec.tolerations

    def judge(self, node: Node) -> tuple[bool, bool]:
        """Return whether a pod has to run on a node, and whether one that does may go on."""
        name = node.metadata.name
        if self._node_name not in ("", name) or not self._affinity.matches(name, node.metadata.labels):
            return False, False
        effects = {
            taint.effect
            for taint in node.spec.taints
            if taint.effect in (NO_SCHEDULE, NO_EXECUTE) and not any(one.tolerates(taint) for one in self._tolerations)
        }
        return not effects, NO_EXECUTE not in effects


def target_node(pod: Pod) -> str:
    """Return the node of a pod, or the one that it waits for; empty if it names none (`GetTargetNodeName`)."""
    if pod.spec.node_name:
        return pod.spec.node_name
    rules = ((pod.spec.affinity or {}).get("nodeAffinity") or {}).get(REQUIRED) or {}
    for term in rules.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field.get("key") == NODE_NAME and field.get("operator") == "In":
                values: list[str] = field.get("values") or []
                return values[0] if len(values) == 1 else ""
    return ""


def is_updated(pod: Pod, found: DaemonSet, text: str) -> bool:
    """Report whether a pod is of the present template, whose revision has a hash (`IsPodUpdated`)."""
    labels, generation = pod.metadata.labels, found.template_generation
    if generation is not None and labels.get(TEMPLATE_GENERATION) == generation:
        return True
    return bool(text) and labels.get(REVISION_HASH) == text


def by_age(pod: Pod) -> tuple[bool, str, str]:
    """Return what orders the pods of a node: bound ones first, then the oldest (`podByCreationTimestampAndPhase`)."""
    return not pod.spec.node_name, pod.metadata.creation_timestamp, pod.metadata.name


class DaemonTemplate:
    """The template of a set, for the pods of many nodes (`CreatePodTemplate`)."""

    def __init__(self, found: DaemonSet, text: str) -> None:
        """Take the hash of the present revision."""
        made = pod_from_template(found.spec.template.value(), Owner(found.metadata, API_VERSION, KIND))
        labels = dict(made["metadata"].get("labels") or {})
        if found.template_generation is not None:
            labels[TEMPLATE_GENERATION] = found.template_generation
        if text:
            labels[REVISION_HASH] = text
        made["metadata"]["labels"] = labels
        self._pod = made
        spec: dict[str, Any] = orjson.loads(bytes(found.spec.template.spec))
        present = spec.get("tolerations") or ()
        spec["tolerations"] = add_tolerations(present, host_network=bool(spec.get("hostNetwork")))
        self._spec = spec
        self._affinity: dict[str, Any] = spec.get("affinity") or {}
        self._node_affinity: dict[str, Any] = self._affinity.get("nodeAffinity") or {}
        self._required: dict[str, Any] = self._node_affinity.get(REQUIRED) or {}

    def pod(self, node: str) -> bytes:
        """Return the pod of a node, which the scheduler binds to it (`ReplaceDaemonSetPodNodeNameNodeAffinity`)."""
        terms = [{"matchFields": [{"key": NODE_NAME, "operator": "In", "values": [node]}]}]
        rules = {**self._node_affinity, REQUIRED: {**self._required, "nodeSelectorTerms": terms}}
        spec = {**self._spec, "affinity": {**self._affinity, "nodeAffinity": rules}}
        return orjson.dumps({**self._pod, "spec": spec})
