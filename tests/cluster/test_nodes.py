"""Simulated nodes, and the pods on them (`conformance/life`, README: What a simulated node does)."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from hydrofoil.testing.remote_server import RemoteServer
from tests.cluster.objects import MARK, condition, deployment, phases, pod


def mark(server: RemoteServer, name: str, **values: str | None) -> None:
    """Set annotations of a pod or a node."""
    annotations = {MARK + key.replace("_", "-"): value for key, value in values.items()}
    server.patch(name, {"metadata": {"annotations": annotations}}, namespace="default" if name[0] == "p" else "")


def ask(server: RemoteServer, path: str) -> tuple[int, str]:
    """Return status and text of a GET below the pods."""
    try:
        with urllib.request.urlopen(f"{server.url}/api/v1/namespaces/default/pods/{path}") as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        with e:
            return e.code, json.loads(e.read())["message"]


def test_a_node_is_ready_at_once_and_has_a_lease(cluster: RemoteServer) -> None:
    node = cluster.get("nodes/node-0")
    assert condition(node, "Ready")["status"] == "True" and "taints" not in node["spec"]
    assert node["status"]["allocatable"] == {"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    lease = cluster.get("leases/node-0", namespace="kube-node-lease")["spec"]
    assert lease["holderIdentity"] == "node-0" and lease["renewTime"] == "2026-01-01T00:00:00.000000Z"
    cluster.clock.advance("2s")
    lease = cluster.get("leases/node-0", namespace="kube-node-lease")["spec"]
    assert lease["renewTime"] == "2026-01-01T00:00:02.000000Z"


def test_a_pod_starts_is_ready_and_exits_when_its_marks_say_so(cluster: RemoteServer) -> None:
    marks = {"start-after": "1s", "ready-after": "2s", "exit-after": "1m", "exit-code": "3"}
    cluster.apply(pod("p", marks, restartPolicy="Never"))
    assert phases(cluster) == {"p": "Pending"}
    cluster.clock.advance("1s")
    assert phases(cluster) == {"p": "Running"}
    assert condition(cluster.get("pods/p", namespace="default"), "Ready")["status"] == "False"
    cluster.clock.advance("2s")
    ready = condition(cluster.get("pods/p", namespace="default"), "Ready")
    assert (ready["status"], ready["lastTransitionTime"]) == ("True", "2026-01-01T00:00:03Z")
    mark(cluster, "pods/p", unready="")
    cluster.clock.advance(0)
    assert condition(cluster.get("pods/p", namespace="default"), "Ready")["status"] == "False"
    cluster.clock.advance("1h")
    item = cluster.get("pods/p", namespace="default")
    end = item["status"]["containerStatuses"][0]["state"]["terminated"]
    assert item["status"]["phase"] == "Failed"
    assert (end["exitCode"], end["reason"], end["finishedAt"]) == (3, "Error", "2026-01-01T00:01:01Z")


def test_containers_that_exit_restart_in_place(cluster: RemoteServer) -> None:
    cluster.apply(pod("p", {"exit-after": "10s"}))
    cluster.clock.advance("10s")
    status = cluster.get("pods/p", namespace="default")["status"]["containerStatuses"][0]
    assert (status["restartCount"], status["state"]) == (1, {"waiting": {"reason": "CrashLoopBackOff"}})
    cluster.clock.advance("1s")
    status = cluster.get("pods/p", namespace="default")["status"]["containerStatuses"][0]
    assert status["restartCount"] == 1 and "running" in status["state"] and "terminated" in status["lastState"]
    cluster.clock.advance("1m")
    assert cluster.get("pods/p", namespace="default")["status"]["containerStatuses"][0]["restartCount"] == 6


def test_a_deleted_pod_stops_at_its_time(cluster: RemoteServer) -> None:
    cluster.apply(pod("p", {"stop-after": "10s"}, terminationGracePeriodSeconds=5), pod("q"))
    cluster.delete("pods/p", namespace="default")
    cluster.delete("pods/q", namespace="default")
    assert phases(cluster) == {"p": "Running!"}
    cluster.clock.advance("4s")
    assert phases(cluster) == {"p": "Running!"}
    cluster.clock.advance("1s")
    assert phases(cluster) == {}


def test_a_dead_node_is_given_up_and_its_pods_move(cluster: RemoteServer) -> None:
    cluster.apply(deployment("web", 4))
    cluster.wait_for("deployments/web", "Available", namespace="default")
    mark(cluster, "nodes/node-0", node="dead")
    cluster.clock.advance("49s")
    assert condition(cluster.get("nodes/node-0"), "Ready")["status"] == "True"
    cluster.clock.advance("2s")
    assert condition(cluster.get("nodes/node-0"), "Ready")["reason"] == "NodeStatusUnknown"
    assert sorted(phases(cluster).values()) == ["Running"] * 4
    cluster.clock.advance("5m")
    assert sorted(phases(cluster).values()) == ["Running"] * 4 + ["Running!"] * 2
    assert {
        p["spec"]["nodeName"]
        for p in cluster.list("pods", namespace="default")
        if p["status"]["phase"] == "Running" and "deletionTimestamp" not in p["metadata"]
    } == {"node-1"}
    mark(cluster, "nodes/node-0", node="alive")
    cluster.clock.advance("1s")
    assert "taints" not in cluster.get("nodes/node-0")["spec"]
    assert sorted(phases(cluster).values()) == ["Running"] * 4


def test_a_week_goes_by_and_a_live_node_is_alive(cluster: RemoteServer) -> None:
    cluster.apply(deployment("web", 2))
    cluster.clock.advance("7d")
    assert condition(cluster.get("nodes/node-0"), "Ready")["status"] == "True"
    assert sorted(phases(cluster).values()) == ["Running"] * 2


def test_pods_of_a_removed_node_are_collected(cluster: RemoteServer) -> None:
    cluster.apply(pod("p"), pod("q", nodeName="node-0"))
    for name in ("node-0", "node-1"):
        cluster.delete(f"nodes/{name}")
    cluster.clock.advance("39s")
    assert phases(cluster) == {"p": "Running", "q": "Running"}
    cluster.clock.advance("2s")
    assert phases(cluster) == {}


@pytest.mark.parametrize("where", ["pod", "namespace"])
def test_what_is_left_alone_is_written_by_nobody(cluster: RemoteServer, where: str) -> None:
    annotations: dict[str, Any] = {"metadata": {"annotations": {MARK + "leave-alone": "true"}}}
    if where == "namespace":
        cluster.patch("namespaces/default", annotations)
        cluster.apply(pod("p"), deployment("web", 1))
    else:
        cluster.apply(pod("p", {"leave-alone": "true"}))
    cluster.clock.advance("1m")
    item = cluster.get("pods/p", namespace="default")
    assert "nodeName" not in item["spec"] and item["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert len(cluster.list("pods", namespace="default")) == 1


def test_logs_are_those_of_the_mark(cluster: RemoteServer) -> None:
    cluster.apply(pod("p", {"logs": "one\ntwo\nthree"}), pod("q"), pod("late", {"start-after": "never"}))
    assert ask(cluster, "p/log") == (200, "one\ntwo\nthree\n")
    assert ask(cluster, "p/log?tailLines=2&limitBytes=6&timestamps=false") == (200, "two\nth")
    assert ask(cluster, "p/log?tailLines=0") == (200, "")
    assert ask(cluster, "p/log?timestamps=true&tailLines=1") == (200, "2026-01-01T00:00:00Z three\n")
    status, text = ask(cluster, "q/log")
    assert status == 200 and text.startswith("This pod is simulated")
    waits = 'container "main" in pod "late" is waiting to start: ContainerCreating'
    assert ask(cluster, "late/log") == (400, waits)
    assert ask(cluster, "p/log?previous=true") == (400, 'previous terminated container "main" in pod "p" not found')
    assert ask(cluster, "p/exec?command=ls")[0] == 500


def test_a_server_without_a_cluster_writes_no_status() -> None:
    from hydrofoil import Server

    with Server.in_thread() as server:
        server.apply(deployment("web", 1), pod("p"))
        assert server.get("deployments/web", namespace="default").get("status", {}) == {}
        assert phases(server) == {"p": "Pending"} and server.list("nodes") == []
