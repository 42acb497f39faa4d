"""Why an object is not ready: the most likely cause is the first line."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from typing import Any

import pytest

from hydrofoil import Server, WaitTimeout
from hydrofoil.errors import ApiError
from hydrofoil.testing.remote_server import RemoteServer
from tests.cluster.objects import MARK, deployment, pod
from tests.conftest import command

CLAIMS = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]


def with_request(cpu: str) -> dict[str, Any]:
    """Return a deployment whose pods ask for CPU."""
    found = deployment("web", 3)
    resources = {"requests": {"cpu": cpu}}
    found["spec"]["template"]["spec"]["containers"] = [{"name": "main", "image": "x", "resources": resources}]
    return found


def ask(server: RemoteServer, name: str) -> str:
    """Return the first line of an answer."""
    lines = server.why(name)
    assert 1 <= len(lines) <= 10
    return lines[0]


def test_nothing_is_wrong(cluster: RemoteServer) -> None:
    cluster.apply(deployment("web", 2))
    assert ask(cluster, "deploy/web") == "deployment web: nothing is wrong"


@pytest.mark.parametrize(
    ("name", "objects", "cause"),
    [
        ("deployments/web", [with_request("9")], "fits no node: 0/2 nodes are available: 2 Insufficient cpu."),
        (
            "deploy/web",
            [deployment("web", 2, {"exit-after": "1s", "exit-code": "7"})],
            "exit code 7, restarted 1 times",
        ),
        ("pods/p", [pod("p", volumes=CLAIMS)], "its claim data does not exist"),
        ("po/p", [pod("p", schedulerName="mine")], "no scheduler named mine has looked at it"),
        ("pods/p", [pod("p", schedulingGates=[{"name": "example.com/a"}])], "waits for scheduling gates example.com/a"),
        ("pods/p", [pod("p", readinessGates=[{"conditionType": "example.com/r"}])], "a readiness gate is not met"),
        ("pods/p", [pod("p", {"start-after": "never"})], "container main waits: ContainerCreating"),
        ("pods/p", [pod("p", {"unready": ""})], "runs, but is not ready: ContainersNotReady"),
        ("pods/p", [pod("p", nodeName="absent")], "its node absent does not exist"),
    ],
)
def test_the_cause_comes_first(cluster: RemoteServer, name: str, objects: list[dict[str, Any]], cause: str) -> None:
    cluster.apply(*objects)
    cluster.clock.advance("1s")
    assert cause in ask(cluster, name)


def test_an_update_that_cannot_go_on_is_no_success(cluster: RemoteServer) -> None:
    cluster.apply(deployment("web", 1))
    container = {"name": "main", "resources": {"requests": {"cpu": "9"}}}
    change = {"spec": {"template": {"spec": {"containers": [container]}}}}
    cluster.patch("deployments/web", change, type="strategic")
    assert "fits no node: 0/2 nodes are available: 2 Insufficient cpu." in ask(cluster, "deploy/web")


def test_a_refused_write_is_the_cause(cluster: RemoteServer) -> None:
    cluster.patch("namespaces/default", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
    cluster.apply(deployment("web", 2))
    first = ask(cluster, "deploy/web")
    assert "FailedCreate" in first and 'violates PodSecurity "restricted:latest"' in first


def test_services_nodes_and_all_that_have_conditions(cluster: RemoteServer) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}}
    cluster.apply({**service, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}})
    assert ask(cluster, "svc/s") == "service s: no pod has the labels app=web"
    cluster.apply(deployment("web", 1, {"unready": ""}))
    assert "is not ready" in ask(cluster, "svc/s")
    cluster.patch("nodes/node-0", {"spec": {"unschedulable": True}})
    assert ask(cluster, "nodes/node-0") == "node node-0: it is cordoned"
    cluster.patch("nodes/node-1", {"metadata": {"annotations": {MARK + "node": "dead"}}})
    cluster.clock.advance("1m")
    assert "it is not ready: NodeStatusUnknown" in ask(cluster, "no/node-1")
    cluster.patch("services/s", {"metadata": {"finalizers": ["example.com/f"]}})
    cluster.delete("services/s")
    assert "waits for finalizers example.com/f" in ask(cluster, "services/s")


def test_a_claim_says_why_it_is_not_bound(cluster: RemoteServer) -> None:
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "absent", "resources": resources}
    metadata = {"name": "data", "namespace": "default"}
    cluster.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})
    cluster.apply(pod("p", volumes=CLAIMS))
    cause = 'Pending: ProvisioningFailed: storageclass.storage.k8s.io "absent" not found'
    assert cause in ask(cluster, "pvc/data") and cause in ask(cluster, "pods/p")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("deployments/wep", 'deployments.apps "wep" not found in namespace default (web?)'),
        ("deploymets/web", "no resource 'deploymets' is served (deployments.apps?)"),
        ("web", "'web' is no object, such as deployments/web"),
    ],
)
def test_what_is_not_there_has_near_names(cluster: RemoteServer, name: str, words: str) -> None:
    cluster.apply(deployment("web", 1))
    with pytest.raises((ApiError, ValueError)) as e:
        cluster.why(name)
    assert words in str(e.value)


def test_a_server_without_controllers_says_so() -> None:
    with Server.in_thread() as server:
        server.apply(deployment("web", 1), pod("p"))
        assert "no controller has looked at it" in ask(server, "deploy/web")
        assert "no scheduler named default-scheduler" in ask(server, "pods/p")


def run(url: str, *words: str) -> tuple[int, str]:
    """Run the command against a server; return its exit code and output."""
    done = subprocess.run(command("why", *words, "--server", url), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout or done.stderr


def test_the_command_and_the_path_say_the_same() -> None:
    with Server.in_thread(test_controls=True) as server:
        server.apply(pod("p"))
        line = "pod p: has no node, and no scheduler named default-scheduler has looked at it"
        assert run(server.url, "pods/p") == (0, f"{line}\n")
        with urllib.request.urlopen(f"{server.url}/hydrofoil/v1/why?object=pods/p&namespace=default") as answer:
            assert json.load(answer) == {"lines": [line]}
        assert run(server.url, "pods/q", "-n", "default")[0] == 1
        assert run(server.url)[0] == 2 and run(server.url, "q")[0] == 2


def test_a_wait_that_fails_says_why(cluster: RemoteServer) -> None:
    cluster.apply(with_request("9"))
    with pytest.raises(WaitTimeout) as e:
        cluster.wait_for("deployments/web", "Available", timeout=0.2)
    lines = str(e.value).splitlines()
    cause = lines[lines.index("why it is not ready:") + 1]
    assert "fits no node: 0/2 nodes are available: 2 Insufficient cpu." in cause


async def test_a_wait_in_the_loop_says_why() -> None:
    async with Server(cluster=1) as server:
        await server.apply(with_request("9"))
        with pytest.raises(WaitTimeout, match=r"why it is not ready:\n .*0/1 nodes are available: 1 Insufficient cpu"):
            await server.wait_for("deployments/web", "Available", timeout=0.2)
        with pytest.raises(WaitTimeout) as e:
            await server.wait_for("configmaps/absent", "create", timeout=0.1)
        assert "why" not in str(e.value)
