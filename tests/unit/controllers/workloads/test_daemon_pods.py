"""Tolerations and nodes of pods of daemon sets (`pkg/controller/daemon/util/daemonset_util_test.go`)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hydrofoil.controllers.objects.daemon_sets import DaemonSet
from hydrofoil.controllers.workloads.daemon_pods import TOLERATED, Placement, add_tolerations, is_updated, target_node
from tests.unit.values import node, pod


def daemon_set(**spec: Any) -> DaemonSet:
    """Return a daemon set with a pod's spec."""
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [], **spec}}
    annotations = {"deprecated.daemonset.template.generation": "2"}
    found = {"metadata": {"name": "x", "annotations": annotations}, "spec": {"template": template}}
    return msgspec.json.decode(msgspec.json.encode(found), type=DaemonSet)


def test_tolerations_are_added_once_and_replaced_in_their_place() -> None:
    timed = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    other = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}
    found = add_tolerations([timed, other], host_network=False)
    assert found[0] == {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
    assert found[1] == other and len(found) == len(TOLERATED) + 1
    assert add_tolerations(found, host_network=False) == found
    assert len(add_tolerations([], host_network=True)) == len(TOLERATED) + 1


@pytest.mark.parametrize(
    ("spec", "taints", "judgement"),
    [
        ({}, [], (True, True)),
        ({}, [{"key": "a", "effect": "NoSchedule"}], (False, True)),
        ({}, [{"key": "a", "effect": "NoExecute"}], (False, False)),
        ({}, [{"key": "a", "effect": "PreferNoSchedule"}], (True, True)),
        ({"tolerations": [{"operator": "Exists"}]}, [{"key": "a", "effect": "NoExecute"}], (True, True)),
        ({"nodeName": "other"}, [], (False, False)),
        ({"nodeSelector": {"zone": "b"}}, [], (False, False)),
        ({"nodeSelector": {"zone": "a"}}, [{"key": "a", "effect": "NoSchedule"}], (False, True)),
    ],
)
def test_nodes_for_pods(spec: dict[str, Any], taints: list[dict[str, str]], judgement: tuple[bool, bool]) -> None:
    assert Placement(daemon_set(**spec)).judge(node(labels={"zone": "a"}, taints=taints)) == judgement


def matching(*values: str, key: str = "metadata.name", operator: str = "In") -> dict[str, Any]:
    """Return an affinity for a node."""
    field = {"key": key, "operator": operator, "values": list(values)}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({"nodeName": "n1", "affinity": matching("n2")}, "n1"),
        ({"affinity": matching("n2")}, "n2"),
        ({"affinity": matching("n2", "n3")}, ""),
        ({"affinity": matching("n2", key="metadata.namespace")}, ""),
        ({"affinity": matching("n2", operator="NotIn")}, ""),
        ({"affinity": {}}, ""),
        ({}, ""),
    ],
)
def test_the_node_of_a_pod(spec: dict[str, Any], name: str) -> None:
    assert target_node(pod(**spec)) == name


@pytest.mark.parametrize(
    ("labels", "text", "is_present"),
    [
        ({"controller-revision-hash": "h"}, "h", True),
        ({"controller-revision-hash": "h"}, "g", False),
        ({"controller-revision-hash": ""}, "", False),
        ({"pod-template-generation": "2"}, "h", True),
        ({"pod-template-generation": "1"}, "h", False),
    ],
)
def test_pods_of_the_present_template(labels: dict[str, str], text: str, is_present: bool) -> None:
    assert is_updated(pod(meta={"labels": labels}), daemon_set(), text) is is_present
