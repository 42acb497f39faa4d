"""kubectl's commands that write, by their result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Kubectl

pytestmark = [pytest.mark.program("kubectl"), pytest.mark.timeout(180)]
Object = dict[str, Any]


def manifest(kind: str, name: str, version: str = "v1", **body: Any) -> Object:
    labels = {"app": name}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": labels}, **body}


def deployment(name: str, **spec: Any) -> Object:
    pod = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    body = {"selector": {"matchLabels": {"app": name}}, "template": pod, **spec}
    return manifest("Deployment", name, "apps/v1", spec=body)


def read(kubectl: Kubectl, kind: str, name: str) -> Object:
    found: Object = json.loads(kubectl("get", kind, name, "-o", "json", "--show-managed-fields"))
    return found


def container(kubectl: Kubectl, name: str) -> Object:
    found: Object = read(kubectl, "deployment", name)["spec"]["template"]["spec"]["containers"][0]
    return found


def test_apply_on_the_clients_side(kubectl: Kubectl) -> None:
    """Three ways: additions of others are kept, members that the configuration dropped are removed."""
    first = json.dumps(manifest("ConfigMap", "client", data={"a": "1", "b": "2"}))
    assert "created" in kubectl("apply", "-f", "-", stdin=first)
    assert "unchanged" in kubectl("apply", "-f", "-", stdin=first)
    kubectl("patch", "configmap", "client", "--type=merge", "-p", '{"data":{"theirs":"3"}}')
    second = json.dumps(manifest("ConfigMap", "client", data={"a": "4"}))
    assert "configured" in kubectl("apply", "-f", "-", stdin=second)
    assert read(kubectl, "configmap", "client")["data"] == {"a": "4", "theirs": "3"}
    assert '"a":"4"' in kubectl("apply", "view-last-applied", "configmap/client", "-o", "json").replace(" ", "")
    kubectl("apply", "set-last-applied", "-f", "-", stdin=first)
    assert "b: " in kubectl("apply", "view-last-applied", "configmap/client")


def test_apply_on_the_servers_side(kubectl: Kubectl) -> None:
    """SSA-05, SSA-06: conflicts are reported and can be forced; a manager's entry is its own."""
    apply = ("apply", "--server-side", "-f", "-")
    kubectl(*apply, "--field-manager=one", stdin=json.dumps(manifest("ConfigMap", "server", data={"a": "1"})))
    other = json.dumps(manifest("ConfigMap", "server", data={"a": "2", "b": "2"}))
    refused = kubectl(*apply, "--field-manager=two", stdin=other, status=1)
    assert 'conflict with "one"' in refused
    assert ".data.a" in refused
    assert read(kubectl, "configmap", "server")["data"] == {"a": "1"}
    kubectl(*apply, "--field-manager=two", "--force-conflicts", stdin=other)
    found = read(kubectl, "configmap", "server")
    assert found["data"] == {"a": "2", "b": "2"}
    owned = {e["manager"]: e["fieldsV1"].get("f:data") for e in found["metadata"]["managedFields"]}
    assert owned == {"one": None, "two": {"f:a": {}, "f:b": {}}}


def test_apply_moves_to_the_servers_side(kubectl: Kubectl) -> None:
    """SSA-48: what was applied on the client's side can be given up on the server's."""
    kubectl("apply", "-f", "-", stdin=json.dumps(manifest("ConfigMap", "moved", data={"a": "1", "b": "1"})))
    kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(manifest("ConfigMap", "moved", data={"a": "2"})))
    found = read(kubectl, "configmap", "moved")
    assert found["data"] == {"a": "2"}
    appliers = {e["manager"] for e in found["metadata"]["managedFields"] if e["operation"] == "Apply"}
    assert appliers == {"kubectl", "kubectl-last-applied"}, "the second holds the annotation"


def test_prune(kubectl: Kubectl) -> None:
    both = [manifest("ConfigMap", name) for name in ("kept", "pruned")]
    for one in both:
        one["metadata"]["labels"] = {"set": "x"}
    kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": both}))
    words = ("--prune", "-l", "set=x", "--prune-allowlist=core/v1/ConfigMap")
    assert "configmap/pruned pruned" in kubectl("apply", "-f", "-", *words, stdin=json.dumps(both[0]))
    assert kubectl("get", "configmaps", "-l", "set=x", "-o", "name") == "configmap/kept\n"


def test_diff(kubectl: Kubectl) -> None:
    """A difference is status 1; nothing is written."""
    live = manifest("ConfigMap", "diff", data={"a": "1"})
    kubectl("apply", "-f", "-", stdin=json.dumps(live))
    assert kubectl("diff", "-f", "-", stdin=json.dumps(live)) == ""
    changed = json.dumps({**live, "data": {"a": "2"}})
    for side in ((), ("--server-side", "--force-conflicts")):
        reported = kubectl("diff", "-f", "-", *side, stdin=changed, status=1)
        assert '-  a: "1"\n+  a: "2"' in reported
    assert read(kubectl, "configmap", "diff")["data"] == {"a": "1"}


def test_edit(kubectl: Kubectl, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/a: one/a: two/" "$1"\n')
    editor.chmod(0o755)
    kubectl("create", "configmap", "edit", "--from-literal=a=one")
    assert "edited" in kubectl("edit", "configmap", "edit", EDITOR=str(editor), KUBE_EDITOR=str(editor))
    assert read(kubectl, "configmap", "edit")["data"] == {"a": "two"}


def test_patches(kubectl: Kubectl) -> None:
    """UP-04: strategic, merge and JSON patches."""
    kubectl("create", "-f", "-", stdin=json.dumps(deployment("patched")))
    patch = ("patch", "deployment", "patched")
    named = '{"spec":{"template":{"spec":{"containers":[{"name":"d","image":"j"}]}}}}'
    kubectl(*patch, "-p", named)
    pod = read(kubectl, "deployment", "patched")["spec"]["template"]["spec"]
    assert [c["name"] for c in pod["containers"]] == ["d", "c"]
    kubectl(*patch, "--type=merge", "-p", named)
    assert container(kubectl, "patched")["image"] == "j"
    one = [
        {"op": "test", "path": "/spec/replicas", "value": 1},
        {"op": "replace", "path": "/spec/replicas", "value": 3},
    ]
    kubectl(*patch, "--type=json", "-p", json.dumps(one))
    assert read(kubectl, "deployment", "patched")["spec"]["replicas"] == 3
    kubectl(*patch, "--type=json", "-p", json.dumps(one), status=1)
    kubectl(*patch, "--subresource=status", "--type=merge", "-p", '{"status":{"replicas":2}}')
    assert read(kubectl, "deployment", "patched")["status"]["replicas"] == 2


def test_replace(kubectl: Kubectl) -> None:
    body = manifest("ConfigMap", "replaced", data={"a": "1"})
    kubectl("create", "-f", "-", stdin=json.dumps(body))
    kubectl("replace", "-f", "-", stdin=json.dumps({**body, "data": {"b": "2"}}))
    found = read(kubectl, "configmap", "replaced")
    assert found["data"] == {"b": "2"}
    kubectl("replace", "--force", "-f", "-", stdin=json.dumps(body))
    again = read(kubectl, "configmap", "replaced")
    assert again["data"] == {"a": "1"}
    assert again["metadata"]["uid"] != found["metadata"]["uid"]


def test_scale_and_autoscale(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=json.dumps(deployment("scaled", replicas=2)))
    refused = kubectl("scale", "deployment/scaled", "--current-replicas=5", "--replicas=3", status=1)
    assert "Expected replicas to be 5" in refused
    kubectl("scale", "deployment/scaled", "--current-replicas=2", "--replicas=3")
    assert read(kubectl, "deployment", "scaled")["spec"]["replicas"] == 3
    kubectl("autoscale", "deployment", "scaled", "--min=2", "--max=5", "--cpu-percent=70")
    old = read(kubectl, "horizontalpodautoscalers.v1.autoscaling", "scaled")["spec"]
    assert (old["minReplicas"], old["maxReplicas"], old["targetCPUUtilizationPercentage"]) == (2, 5, 70)
    new = read(kubectl, "horizontalpodautoscalers.v2.autoscaling", "scaled")["spec"]["metrics"]
    target = {"type": "Utilization", "averageUtilization": 70}
    assert new == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


def test_set(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=json.dumps(deployment("set")))
    kubectl("set", "image", "deployment/set", "c=i:2")
    kubectl("set", "env", "deployment/set", "A=b", "C=d")
    kubectl("set", "env", "deployment/set", "C-")
    kubectl("set", "resources", "deployment/set", "--limits=cpu=1,memory=1Gi", "--requests=cpu=500m")
    kubectl("set", "serviceaccount", "deployment/set", "who")
    found = container(kubectl, "set")
    assert (found["image"], found["env"]) == ("i:2", [{"name": "A", "value": "b"}])
    assert found["resources"] == {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    assert read(kubectl, "deployment", "set")["spec"]["template"]["spec"]["serviceAccountName"] == "who"


def test_rollout(kubectl: Kubectl) -> None:
    """The replica sets of a history replace those that a controller makes."""
    kubectl("create", "-f", "-", stdin=json.dumps(deployment("rolled")))
    live = read(kubectl, "deployment", "rolled")
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "rolled", "controller": True}
    for number, image in ((1, "i:0"), (2, "i:1")):
        labels = {"app": "rolled", "pod-template-hash": str(number)}
        pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}]}}
        body = manifest("ReplicaSet", f"rolled-{number}", "apps/v1")
        body["metadata"]["labels"] = labels
        body["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": str(number)}
        body["metadata"]["ownerReferences"] = [{**owner, "uid": live["metadata"]["uid"]}]
        body["spec"] = {"replicas": 0, "selector": {"matchLabels": labels}, "template": pod}
        kubectl("create", "-f", "-", stdin=json.dumps(body))
    revisions = [
        line.split()[0] for line in kubectl("rollout", "history", "deployment/rolled").splitlines()[2:] if line
    ]
    assert revisions == ["1", "2"]
    kubectl("rollout", "undo", "deployment/rolled", "--to-revision=1")
    assert container(kubectl, "rolled")["image"] == "i:0"
    kubectl("rollout", "restart", "deployment/rolled")
    noted = read(kubectl, "deployment", "rolled")["spec"]["template"]["metadata"]["annotations"]
    assert "kubectl.kubernetes.io/restartedAt" in noted
    kubectl("rollout", "pause", "deployment/rolled")
    assert read(kubectl, "deployment", "rolled")["spec"]["paused"]
    kubectl("rollout", "resume", "deployment/rolled")
    done = {"observedGeneration": 99, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}
    patch = json.dumps({"status": done})
    kubectl("patch", "deployment", "rolled", "--subresource=status", "--type=merge", "-p", patch)
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/rolled", "--timeout=10s")


def test_labels_and_annotations(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "noted")
    for word in ("label", "annotate"):
        kubectl(word, "configmap", "noted", "a=1", "b=2")
        assert "already has a value" in kubectl(word, "configmap", "noted", "a=3", status=1)
        kubectl(word, "configmap", "noted", "a=3", "--overwrite")
        kubectl(word, "configmap", "noted", "b-")
    found = read(kubectl, "configmap", "noted")["metadata"]
    assert (found["labels"], found["annotations"]) == ({"a": "3"}, {"a": "3"})


def test_nodes(kubectl: Kubectl) -> None:
    """A node that is cordoned has the taint for it; drained, its pods are evicted."""
    kubectl("create", "-f", "-", stdin=json.dumps(manifest("Node", "node")))
    kubectl("taint", "nodes", "node", "k=v:NoSchedule")
    assert {"key": "k", "value": "v", "effect": "NoSchedule"} in read(kubectl, "node", "node")["spec"]["taints"]
    kubectl("taint", "nodes", "node", "k=w:NoSchedule", "--overwrite")
    kubectl("taint", "nodes", "node", "k-")
    kubectl("cordon", "node")
    assert read(kubectl, "node", "node")["spec"]["unschedulable"]
    kubectl("uncordon", "node")
    assert "unschedulable" not in read(kubectl, "node", "node")["spec"]


def test_run_and_expose(kubectl: Kubectl) -> None:
    kubectl("run", "run", "--image=i", "--port=80", "--env=A=b", "--labels=app=run", "--restart=Never", "--", "x", "y")
    spec = read(kubectl, "pod", "run")["spec"]
    assert (spec["restartPolicy"], spec["containers"][0]["args"]) == ("Never", ["x", "y"])
    kubectl("expose", "pod", "run", "--port=8080", "--target-port=80", "--name=run")
    service = read(kubectl, "service", "run")["spec"]
    assert service["selector"] == {"app": "run"}
    assert service["ports"] == [{"port": 8080, "protocol": "TCP", "targetPort": 80}]
    assert service["clusterIP"] != ""


@pytest.mark.parametrize(
    ("kind", "words", "path", "value"),
    [
        ("clusterrole", ["r", "--verb=get,list", "--resource=pods"], ["rules", 0, "verbs"], ["get", "list"]),
        ("clusterrolebinding", ["b", "--clusterrole=r", "--user=u"], ["subjects", 0, "name"], "u"),
        ("configmap", ["m", "--from-literal=a=b"], ["data", "a"], "b"),
        ("cronjob", ["c", "--image=i", "--schedule=*/5 * * * *"], ["spec", "schedule"], "*/5 * * * *"),
        ("deployment", ["d", "--image=i", "--replicas=2"], ["spec", "replicas"], 2),
        ("ingress", ["i", "--rule=h/p=s:80"], ["spec", "rules", 0, "host"], "h"),
        ("job", ["j", "--image=i"], ["spec", "completions"], 1),
        ("namespace", ["made"], ["status", "phase"], "Active"),
        ("poddisruptionbudget", ["p", "--selector=a=b", "--min-available=1"], ["spec", "minAvailable"], 1),
        ("priorityclass", ["high", "--value=7"], ["value"], 7),
        ("quota", ["q", "--hard=pods=3"], ["spec", "hard", "pods"], "3"),
        ("role", ["r", "--verb=get", "--resource=deployments.apps"], ["rules", 0, "apiGroups"], ["apps"]),
        ("rolebinding", ["b", "--role=r", "--serviceaccount=default:a"], ["subjects", 0, "kind"], "ServiceAccount"),
        ("secret", ["generic", "s", "--from-literal=a=b"], ["data", "a"], "Yg=="),
        (
            "secret",
            ["docker-registry", "k", "--docker-username=u", "--docker-password=p"],
            ["type"],
            "kubernetes.io/dockerconfigjson",
        ),
        ("service", ["clusterip", "s", "--tcp=80:90"], ["spec", "ports", 0, "targetPort"], 90),
        ("service", ["nodeport", "n", "--tcp=80"], ["spec", "type"], "NodePort"),
        ("service", ["loadbalancer", "l", "--tcp=80"], ["spec", "type"], "LoadBalancer"),
        ("service", ["externalname", "e", "--external-name=h.e"], ["spec", "externalName"], "h.e"),
        ("serviceaccount", ["a"], ["kind"], "ServiceAccount"),
    ],
    ids=lambda v: v if isinstance(v, str) else None,
)
def test_generators(kubectl: Kubectl, kind: str, words: list[str], path: list[str | int], value: object) -> None:
    named = kubectl("create", kind, *words, "-o", "name").strip()
    found: Any = json.loads(kubectl("get", named, "-o", "json"))
    for step in path:
        found = found[step]
    assert found == value


def test_tokens(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "token")
    assert len(kubectl("create", "token", "token", "--duration=1h").split(".")) == 3
    assert "yes" in kubectl("auth", "can-i", "create", "pods")
