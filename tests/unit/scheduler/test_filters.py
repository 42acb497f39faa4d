"""Why nodes are refused (`pkg/scheduler/framework/plugins`)."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.scheduler.attempt import Attempts, Failure, Place
from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.filter import Refusal
from hydrofoil.scheduler.node_info import NodeInfo, read_pod
from hydrofoil.scheduler.preemption import no_node_message
from hydrofoil.scheduler.profile import Filters
from tests.unit.values import asking, node, pod

HOST = "kubernetes.io/hostname"
WEB = {"matchLabels": {"app": "web"}}


def cluster(*nodes: Any) -> Cluster:
    """Return a cluster of nodes."""
    found = Cluster()
    for each in nodes:
        found.put_node(each)
    return found


def bind(to: Cluster, name: str, **given: Any) -> None:
    """Put a pod on a node."""
    to.put_pod(pod(given.pop("called", "other"), nodeName=name, **given))


def reasons(of: Cluster, wanted: Pod) -> dict[str, tuple[str, ...]]:
    """Return why each node refuses a pod; none if one takes it."""
    place = Attempts(of).place(read_pod(wanted))
    if isinstance(place, Place):
        return {}
    return {name: refusal.reasons for name, refusal in place.refusals.items()}


def affinity(kind: str, **term: Any) -> dict[str, Any]:
    """Return a required term of affinity."""
    rule = {"topologyKey": HOST, "labelSelector": WEB, **term}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}


SPREAD = [{"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": WEB}]
LABELLED: dict[str, Any] = {"labels": {"app": "web"}}
TERMS = [{"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]}]
NAMES = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["other"]}]}]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (asking(cpu="5"), "Insufficient cpu"),
        (asking(memory="9Gi"), "Insufficient memory"),
        (asking("p", {"example.com/gadget": "1"}), "Insufficient example.com/gadget"),
        (pod(nodeSelector={"life": "here"}), "node(s) didn't match Pod's node affinity/selector"),
        (
            pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": TERMS}}}),
            "node(s) didn't match Pod's node affinity/selector",
        ),
        (
            pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": NAMES}}}),
            "node(s) didn't satisfy plugin(s) [NodeAffinity]",
        ),
        (
            pod(containers=[{"name": "a", "ports": [{"hostPort": 80, "hostIP": "10.0.0.1"}]}]),
            "node(s) didn't have free ports for the requested pod ports",
        ),
        (pod(affinity=affinity("podAffinity")), "node(s) didn't match pod affinity rules"),
        (pod(affinity=affinity("podAntiAffinity", labelSelector={})), "node(s) didn't match pod anti-affinity rules"),
        (
            pod(topologySpreadConstraints=[{**SPREAD[0], "topologyKey": "zone"}]),
            "node(s) didn't match pod topology spread constraints (missing required label)",
        ),
    ],
)
def test_a_node_is_refused_with_the_words_of_upstream(wanted: Pod, reason: str) -> None:
    crowd = cluster(node("n", labels={"cores": "4"}))
    bind(crowd, "n", containers=[{"name": "a", "ports": [{"hostPort": 80}]}])
    assert reasons(crowd, wanted) == {"n": (reason,)}


def named(*terms: list[str]) -> Pod:
    """Return a pod whose terms each have requirements of one name."""
    rules = [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]}
        for names in terms
    ]
    return pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": rules}}})


def test_only_the_nodes_that_a_pod_names_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = cluster(*(node(f"n{number}") for number in range(5)), node("full", room={"pods": "0"}))
    looks: list[str] = []
    refuse = Filters.refuse_with_nominated

    def look(self: Filters, at: NodeInfo) -> Refusal | None:
        looks.append(at.name)
        return refuse(self, at)

    monkeypatch.setattr(Filters, "refuse_with_nominated", look)
    place = Attempts(crowd).place(read_pod(named(["n3"])))
    assert isinstance(place, Place) and (place.node, looks) == ("n3", ["n3"])
    place = Attempts(crowd).place(read_pod(named(["absent"], ["n1"], ["n1", "n2"])))
    assert isinstance(place, Place) and place.node == "n1"
    others = ("node(s) didn't satisfy plugin(s) [NodeAffinity]",)
    assert reasons(crowd, named(["full"])) == {"full": ("Too many pods",)} | {f"n{n}": others for n in range(5)}
    place = Attempts(crowd).place(read_pod(named(["n1", "n2"])))
    assert isinstance(place, Failure) and place.message == "pod affinity terms conflict"


def test_taints_and_cordons_refuse_pods_that_do_not_tolerate_them() -> None:
    taint = {"key": "life", "value": "x", "effect": "NoSchedule"}
    crowd = cluster(
        node("tainted", taints=[taint]),
        node("cordoned", unschedulable=True),
        node("liked less", taints=[{"key": "a", "effect": "PreferNoSchedule"}], room={"pods": "0"}),
    )
    assert reasons(crowd, pod()) == {
        "tainted": ("node(s) had untolerated taint(s)",),
        "cordoned": ("node(s) were unschedulable",),
        "liked less": ("Too many pods",),
    }
    assert reasons(crowd, pod(tolerations=[{"key": "life", "value": "x"}])) == {}
    assert reasons(crowd, pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])) == {}


def test_pods_refuse_others() -> None:
    crowd = cluster(node("n"))
    bind(crowd, "n", affinity=affinity("podAntiAffinity"))
    told = "node(s) didn't satisfy existing pods anti-affinity rules"
    assert reasons(crowd, pod(meta=LABELLED)) == {"n": (told,)}
    assert reasons(crowd, pod(meta={**LABELLED, "namespace": "b"})) == {}


def test_the_first_pod_of_a_group_may_ask_for_itself() -> None:
    crowd = cluster(node("n"))
    assert reasons(crowd, pod(meta=LABELLED, affinity=affinity("podAffinity"))) == {}


def test_pods_are_spread_evenly() -> None:
    crowd = cluster(node("a"), node("b"))
    for number in range(6):
        one = pod(f"p{number}", meta=LABELLED, topologySpreadConstraints=SPREAD)
        place = Attempts(crowd).place(read_pod(one))
        assert isinstance(place, Place)
        crowd.assume(read_pod(one), place.node)
    assert [len(info.pods) for info in crowd.nodes.values()] == [3, 3]
    crowd.put_node(node("b", unschedulable=True))
    fourth = pod("fourth", meta=LABELLED, topologySpreadConstraints=SPREAD)
    assert reasons(crowd, fourth) == {}
    crowd.assume(read_pod(fourth), "a")
    assert reasons(crowd, pod(meta=LABELLED, topologySpreadConstraints=SPREAD)) == {
        "a": ("node(s) didn't match pod topology spread constraints",),
        "b": ("node(s) were unschedulable",),
    }


def test_several_reasons_of_a_node_are_counted_one_by_one() -> None:
    crowd = cluster(node("a"), node("b"), node("c"))
    refused = [reason for all_ in reasons(crowd, asking(cpu="5", memory="9Gi")).values() for reason in all_]
    assert no_node_message(3, refused) == "0/3 nodes are available: 3 Insufficient cpu, 3 Insufficient memory."


def test_pods_of_one_kind_fill_the_nodes_evenly_and_end_where_there_is_no_room() -> None:
    crowd = cluster(node("a"), node("b", room={"cpu": "2"}))
    attempts = Attempts(crowd)
    for _ in range(6):
        info = read_pod(asking(cpu="1"))
        place = attempts.place(info)
        assert isinstance(place, Place)
        crowd.assume(info, place.node)
    assert [len(info.pods) for info in crowd.nodes.values()] == [4, 2]
    assert isinstance(attempts.place(read_pod(asking(cpu="1"))), Failure)
    freed = next(iter(crowd.nodes["a"].pods))
    crowd.forget(freed)
    again = attempts.place(read_pod(asking(cpu="1")))
    assert isinstance(again, Place) and again.node == "a"


def test_a_node_that_comes_after_its_pods_has_them() -> None:
    crowd = Cluster()
    bind(crowd, "late", called="early")
    crowd.put_node(node("late", room={"pods": "1"}))
    assert reasons(crowd, pod()) == {"late": ("Too many pods",)}
    crowd.remove_node("late")
    assert isinstance(Attempts(crowd).place(read_pod(pod())), Failure)
    crowd.put_node(node("late", room={"pods": "2"}))
    assert reasons(crowd, pod()) == {}
