"""A cluster that lives: whatever happens, once it has settled each controller has what it wants.

Random workloads, scalings, evictions, losses of nodes and jumps of the clock; the invariants hold after each, a restart
on a folder changes nothing, and the same seed gives the same history.
"""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster

from hydrofoil import Server
from hydrofoil.errors import ApiError
from hydrofoil.testing.remote_server import RemoteServer
from tests.cluster.conftest import BEGIN
from tests.cluster.objects import MARK, deployment, pod

Object = dict[str, Any]


@pytest.fixture(autouse=True)
def unguarded(no_blocking: BlockBuster) -> None:
    """Let the tests themselves wait for another thread."""
    no_blocking.deactivate()


STEPS = 30
NODES = 3
NAMES = ("a", "b", "c")
LONG = "10m"
"""Longer than any wait for a node, a pod or a rollout here."""


def job(name: str, chance: random.Random) -> Object:
    """Return a job whose pods end after a while, maybe badly."""
    marks = {"exit-after": "5s", "exit-code": chance.choice(("0", "0", "1"))}
    template = pod(name, marks, restartPolicy="Never")
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "completions": chance.randrange(1, 4),
            "parallelism": chance.randrange(1, 4),
            "backoffLimit": 1,
            "template": {"metadata": {"annotations": template["metadata"]["annotations"]}, "spec": template["spec"]},
        },
    }


def service(name: str) -> Object:
    """Return a service of a deployment."""
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    }


def act(server: RemoteServer, chance: random.Random) -> str:
    """Do something; return what it was."""
    name, node = chance.choice(NAMES), f"node-{chance.randrange(NODES)}"
    kind = chance.choice(
        ("apply", "apply", "scale", "update", "evict", "node", "cordon", "job", "remove", "time", "time")
    )
    match kind:
        case "apply":
            marks = {"ready-after": chance.choice(("0s", "3s"))}
            server.apply(deployment(name, chance.randrange(6), marks), service(name))
        case "scale":
            with suppress(ApiError):
                server.patch(f"deployments/{name}", {"spec": {"replicas": chance.randrange(6)}})
        case "update":
            image = [{"name": "main", "image": f"x:{chance.randrange(9)}"}]
            with suppress(ApiError):
                server.patch(
                    f"deployments/{name}", {"spec": {"template": {"spec": {"containers": image}}}}, type="strategic"
                )
        case "evict":
            pods = sorted(item["metadata"]["name"] for item in server.list("pods"))
            if pods:
                server.delete(f"pods/{chance.choice(pods)}", ignore_not_found=True)
        case "node":
            state = chance.choice(("dead", "alive", "alive"))
            server.patch(f"nodes/{node}", {"metadata": {"annotations": {MARK + "node": state}}})
        case "cordon":
            server.patch(f"nodes/{node}", {"spec": {"unschedulable": chance.random() < 0.5}})
        case "job":
            with suppress(ApiError):
                server.delete(f"jobs/{name}", ignore_not_found=True)
            server.clock.advance("1s")
            server.apply(job(name, chance))
        case "remove":
            server.delete(f"deployments/{name}", ignore_not_found=True)
        case "time":
            server.clock.advance(chance.choice(("100ms", "1s", "30s", LONG)))
    return f"{kind} {name} {node}"


def is_live(item: Object) -> bool:
    """Report whether a pod is neither ended nor deleted."""
    return item["status"]["phase"] in ("Pending", "Running") and "deletionTimestamp" not in item["metadata"]


def is_ready(item: Object) -> bool:
    """Report whether a pod is ready."""
    return any(c["type"] == "Ready" and c["status"] == "True" for c in item["status"].get("conditions", ()))


def check(server: RemoteServer) -> None:
    """Fail unless the invariants hold of a cluster that has settled."""
    pods = server.list("pods")
    owned: dict[str, list[Object]] = {}
    for item in pods:
        for owner in item["metadata"].get("ownerReferences", ()):
            owned.setdefault(owner["uid"], []).append(item)
    for one in server.list("replicasets"):
        live = [item for item in owned.get(one["metadata"]["uid"], []) if is_live(item)]
        name, wanted, status = one["metadata"]["name"], one["spec"]["replicas"], one["status"]
        assert len(live) == wanted, f"{name} wants {wanted}"
        assert status["observedGeneration"] == one["metadata"]["generation"]
        assert status["replicas"] == wanted and status.get("readyReplicas", 0) == sum(map(is_ready, live)), name
    for one in server.list("deployments"):
        assert one["status"]["observedGeneration"] == one["metadata"]["generation"]
    for name in NAMES:
        ready = {
            item["status"]["podIP"]
            for item in pods
            if item["metadata"].get("labels", {}).get("app") == name and is_live(item) and is_ready(item)
        }
        slices = server.list("endpointslices", label_selector=f"kubernetes.io/service-name={name}")
        serving = {
            address
            for one in slices
            for endpoint in one["endpoints"] or ()
            if endpoint["conditions"]["ready"]
            for address in endpoint["addresses"]
        }
        if slices:
            assert serving == ready, name
    bound = [item for item in pods if "nodeName" in item["spec"]]
    addresses = [item["status"]["podIP"] for item in bound if "podIP" in item["status"] and is_live(item)]
    assert len(set(addresses)) == len(addresses)


def check_end(server: RemoteServer) -> None:
    """Fail unless all is well a while after every node has come back."""
    for number in range(NODES):
        server.patch(f"nodes/node-{number}", {"metadata": {"annotations": {MARK + "node": "alive"}}})
        server.patch(f"nodes/node-{number}", {"spec": {"unschedulable": None}})
    server.clock.advance(LONG)
    server.clock.advance(LONG)
    check(server)
    for one in server.list("deployments"):
        wanted, status = one["spec"]["replicas"], one["status"]
        assert status.get("availableReplicas", 0) == status.get("updatedReplicas", 0) == wanted, one["metadata"]["name"]
    for one in server.list("jobs"):
        kinds = {c["type"] for c in one["status"].get("conditions", ()) if c["status"] == "True"}
        assert kinds & {"Complete", "Failed"}, one["metadata"]["name"]
    assert all("deletionTimestamp" not in item["metadata"] for item in server.list("pods"))


OBJECTS = ("deployments", "replicasets", "pods", "jobs", "services", "endpointslices", "nodes")


def state_of(server: RemoteServer, *resources: str) -> list[Object]:
    """Return all objects of resources, with their versions."""
    return [item for resource in resources for item in server.list(resource)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.timeout(120)
def test_invariants_hold_after_each_step(seed: int) -> None:
    chance = random.Random(seed)
    with Server.in_thread(cluster=NODES, clock=BEGIN, seed=seed) as server:
        for _ in range(STEPS):
            done = act(server, chance)
            try:
                check(server)
            except AssertionError as e:
                raise AssertionError(f"after {done}: {e}") from e
        check_end(server)


@pytest.mark.timeout(120)
def test_a_restart_on_a_folder_changes_nothing(tmp_path: Path) -> None:
    chance = random.Random(7)
    given: dict[str, Any] = {"cluster": NODES, "data_dir": str(tmp_path / "data")}
    with Server.in_thread(clock=BEGIN, **given) as server:
        for _ in range(STEPS):
            act(server, chance)
        check_end(server)
        before, moment = state_of(server, *OBJECTS), server.clock.now
    with Server.in_thread(clock=moment, **given) as server:
        server.clock.advance(0)
        # Events that nodes are registered are written again, as upstream's controllers do.
        assert state_of(server, *OBJECTS) == before


@pytest.mark.timeout(120)
def test_the_same_seed_gives_the_same_history() -> None:
    histories = []
    for _ in range(2):
        chance = random.Random(11)
        with Server.in_thread(cluster=NODES, clock=BEGIN, seed=11) as server:
            for _ in range(STEPS):
                act(server, chance)
            histories.append(state_of(server, *OBJECTS, "events", "leases"))
    assert histories[0] == histories[1]
