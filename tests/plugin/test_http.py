"""The controls over HTTP, for tests in other languages."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hydrofoil import Server
from hydrofoil.testing.remote_server import RemoteServer
from tests.conftest import command
from tests.plugin.conftest import MAPS, call, make, names

V1 = "/hydrofoil/v1"


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    """Yield a server with controls."""
    with Server.in_thread(test_controls=True) as server:
        yield server


def test_without_the_flag_there_are_no_such_paths(thread: RemoteServer) -> None:
    for method, path in (("GET", "/openapi.json"), ("POST", "/reset"), ("GET", "/clock")):
        assert call(thread, method, V1 + path)[0] == 404


def test_the_document_lists_what_is_answered(server: RemoteServer) -> None:
    status, document = call(server, "GET", f"{V1}/openapi.json")
    assert status == 200 and document["openapi"].startswith("3.")
    paths = {path.removeprefix(V1) for path in document["paths"]}
    assert {"/reset", "/snapshots/{id}/restore", "/clock/advance", "/faults/{id}", "/wait", "/users"} <= paths
    ids = [call["operationId"] for methods in document["paths"].values() for call in methods.values()]
    assert len(ids) == len(set(ids))
    for path, methods in document["paths"].items():
        for method in methods:
            assert call(server, method.upper(), path.replace("{id}", "nothing"), {})[0] != 405


def test_states(server: RemoteServer) -> None:
    make(server, "a")
    status, taken = call(server, "POST", f"{V1}/snapshots")
    assert status == 201 and set(taken) == {"id", "resourceVersion"}
    assert call(server, "GET", f"{V1}/snapshots")[1]["items"] == [taken]
    make(server, "b")
    status, restored = call(server, "POST", f"{V1}/snapshots/{taken['id']}/restore")
    assert status == 200 and restored["changed"] == 1
    assert int(restored["resourceVersion"]) > int(taken["resourceVersion"])
    assert names(server) == ["a"]
    with urllib.request.urlopen(f"{server.url}{V1}/snapshots/{taken['id']}") as answer:
        saved = answer.read()
    request = urllib.request.Request(f"{server.url}{V1}/snapshots/mine", saved, method="PUT")
    with urllib.request.urlopen(request) as answer:
        assert json.loads(answer.read()) == {"id": "mine", "resourceVersion": taken["resourceVersion"]}
    assert call(server, "POST", f"{V1}/reset")[0] == 200
    assert names(server) == []
    assert call(server, "POST", f"{V1}/snapshots/mine/restore")[0] == 200
    assert names(server) == ["a"]
    assert call(server, "DELETE", f"{V1}/snapshots/mine")[0] == 200
    assert call(server, "POST", f"{V1}/snapshots/mine/restore")[0] == 404
    page = call(server, "GET", f"{MAPS}?limit=1")[1]["metadata"]["resourceVersion"]
    make(server, "c")
    assert call(server, "POST", f"{V1}/compact")[0] == 200
    assert call(server, "GET", f"{MAPS}?resourceVersion={page}&resourceVersionMatch=Exact")[0] == 410


def test_time(server: RemoteServer) -> None:
    assert call(server, "GET", f"{V1}/clock")[1]["frozen"] is False
    body = {"now": "2026-01-01T00:00:00Z", "frozen": True}
    assert call(server, "PUT", f"{V1}/clock", body) == (200, {"now": "2026-01-01T00:00:00.000000Z", "frozen": True})
    moved = call(server, "POST", f"{V1}/clock/advance", {"duration": "25h"})
    assert moved == (200, {"now": "2026-01-02T01:00:00.000000Z", "frozen": True})
    assert call(server, "POST", f"{V1}/clock/advance", {"duration": "-1h"})[0] == 400
    assert call(server, "PUT", f"{V1}/clock", {"frozen": False})[1]["frozen"] is False


def test_faults(server: RemoteServer) -> None:
    status, fault = call(
        server, "POST", f"{V1}/faults", {"action": "status", "code": 503, "retryAfter": 1, "verb": "list"}
    )
    assert (status, fault["seen"], fault["hits"], fault["action"]) == (201, 0, 0, "status")
    assert call(server, "GET", MAPS)[0] == 503
    assert call(server, "GET", f"{V1}/faults/{fault['id']}")[1]["hits"] == 1
    assert len(call(server, "GET", f"{V1}/faults")[1]["items"]) == 1
    assert call(server, "DELETE", f"{V1}/faults/{fault['id']}")[0] == 200
    assert call(server, "GET", f"{V1}/faults/{fault['id']}")[0] == 404
    for wrong in ({}, {"action": "explode"}, {"action": "status", "code": 5}):
        status, body = call(server, "POST", f"{V1}/faults", wrong)
        assert (status, body["kind"], body["reason"]) == (400, "Status", "BadRequest")
    call(server, "POST", f"{V1}/faults", {"action": "deny", "path": "*"})
    assert call(server, "DELETE", f"{V1}/faults")[0] == 200, "the controls themselves are never hit"


def test_requests_and_watches(server: RemoteServer) -> None:
    make(server, "a")
    call(server, "GET", f"{MAPS}?limit=5")
    call(server, "GET", MAPS)
    found = call(server, "GET", f"{V1}/requests?verb=list&params.limit=")[1]
    assert found["dropped"] == 0
    for wrong, near in (
        ("resorce=pods", "resource?"),
        ("verb=lists", "list?"),
        ("resource=pod", "pods?"),
        ("limit=", "params"),
    ):
        status, refused = call(server, "GET", f"{V1}/requests?{wrong}")
        assert status == 400 and near in refused["message"], refused
    status, refused = call(server, "POST", f"{V1}/faults", {"action": "deny", "resource": "secret"})
    assert status == 400 and "secrets?" in refused["message"]
    (record,) = found["items"]
    assert (record["path"], record["code"], record["requestBytes"]) == (MAPS, 200, 0)
    assert record["started"].endswith("Z") and "answer" in record and record["responseBytes"] > 0
    assert len(call(server, "GET", f"{V1}/requests?code=201")[1]["items"]) == 1
    with urllib.request.urlopen(f"{server.url}{MAPS}?watch=1"):
        (watch,) = call(server, "GET", f"{V1}/watches")[1]["items"]
        assert (watch["resource"], watch["namespace"]) == ("configmaps", "default")
        assert {"events", "resourceVersion", "agent", "user", "started"} <= set(watch)
    assert call(server, "DELETE", f"{V1}/requests")[0] == 200
    assert call(server, "GET", f"{V1}/requests")[1]["items"] == []


def test_apply_wait_and_users(server: RemoteServer) -> None:
    document = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
    text = b"---\n".join(document % name for name in (b"a", b"b"))
    with urllib.request.urlopen(urllib.request.Request(f"{server.url}{V1}/apply", text, method="POST")) as answer:
        assert [item["metadata"]["name"] for item in json.loads(answer.read())["items"]] == ["a", "b"]
    status, refused = call(
        server, "POST", f"{V1}/apply", {"apiVersion": "v1", "kind": "Nope", "metadata": {"name": "x"}}
    )
    assert status == 404 and "document 1" in refused["message"]
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}, "status": {"phase": "Terminating"}}
    assert call(server, "POST", f"{V1}/apply", space)[0] == 200, "the status is not written"
    assert "its status" in call(server, "POST", f"{V1}/apply?status=true", space)[1]["message"]
    assert call(server, "POST", f"{V1}/wait", {"object": "configmaps/a"})[1]["metadata"]["name"] == "a"
    status, late = call(server, "POST", f"{V1}/wait", {"object": "configmaps/z", "timeout": "100ms"})
    assert status == 504 and late["message"].endswith("did not exist within 0.1 s: it never existed")
    status, user = call(server, "POST", f"{V1}/users", {"name": "bob", "groups": ["dev"]})
    assert status == 200
    assert call(server, "GET", MAPS, headers=user["headers"])[0] == 403
    assert user["kubeconfig"]["kind"] == "Config"
    assert call(server, "GET", f"{V1}/requests?path=/hydrofoil*")[1]["items"] == []


def test_objects(server: RemoteServer) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    pod["spec"] = {"containers": [{"name": "c", "image": "i"}]}
    assert call(server, "POST", f"{V1}/apply", pod)[0] == 200
    status, found = call(server, "PUT", f"{V1}/status", {"object": "pods/p", "status": {"phase": "Running"}})
    assert status == 200 and found["status"]["phase"] == "Running"
    assert call(server, "GET", f"{V1}/object?object=pods/p&namespace=default")[1]["status"]["phase"] == "Running"
    for path, code, text in (
        ("object=pods/q", 404, 'pods "q" not found'),
        ("object=pdos/p", 400, "no resource 'pdos' is served (pods, daemonsets.apps?)"),
        ("namespace=default", 400, "object is required"),
        ("object=pods/p&name=p", 400, "no parameter 'name': it is one of object, namespace"),
    ):
        status, answer = call(server, "GET", f"{V1}/object?{path}")
        assert (status, answer["message"]) == (code, text)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "/status", {"object": "pods/p"}, 400),
        ("PUT", "/status", {"object": "pods/p", "status": "Running"}, 400),
        ("PUT", "/status", {"object": 5, "status": {}}, 400),
        ("PUT", "/status", {"object": "configmaps/kube-root-ca.crt", "status": {}}, 404),
        ("GET", "/nothing", None, 404),
        ("GET", "/reset", None, 405),
        ("POST", "/users", {}, 400),
        ("POST", "/wait", {"object": "configmaps"}, 400),
        ("POST", "/wait", [], 400),
        ("PUT", "/clock", {"now": "yesterday"}, 400),
        ("POST", "/clock/advance", {}, 400),
        ("PUT", "/snapshots/x", {"not": "a snapshot"}, 400),
        ("GET", "/faults/many", None, 404),
        ("POST", "/clock/advance", {"duration": 1e300}, 400),
        ("POST", "/clock/advance", {"duration": None}, 400),
        ("PUT", "/clock", {"now": "9999-12-31T23:59:59Z"}, 400),
        ("PUT", "/clock", {"now": 5}, 400),
        ("PUT", "/clock", {"frozen": "yes"}, 400),
        ("POST", "/wait", {"object": 5}, 400),
        ("POST", "/wait", {"object": "pods/a", "namespace": 5}, 400),
        ("POST", "/users", {"name": 5}, 400),
        ("POST", "/users", {"name": "a", "groups": "dev"}, 400),
        ("POST", "/users", {"name": "a", "groups": [5]}, 400),
    ],
)
def test_errors_are_a_status(server: RemoteServer, method: str, path: str, body: Any, status: int) -> None:
    code, answer = call(server, method, V1 + path, body)
    assert (code, answer["kind"], answer["code"]) == (status, "Status", status)


def test_a_folder_of_objects_is_not_set_back(tmp_path: Path) -> None:
    with Server.in_thread(test_controls=True, data_dir=tmp_path / "data") as server:
        status, body = call(server, "POST", f"{V1}/reset")
        assert (status, body["reason"]) == (501, "NotImplemented") and "hydrofoil data restore" in body["message"]


def test_a_web_page_may_not_reset_a_server(server: RemoteServer) -> None:
    make(server, "a")
    for page in ("http://evil.example", "http://127.0.0.1", "null"):
        status, body = call(server, "POST", f"{V1}/reset", headers={"Origin": page})
        assert (status, body["kind"], body["reason"]) == (403, "Status", "Forbidden")
    assert names(server) == ["a"]


def test_with_authentication_only_administrators_may(tmp_path: Path) -> None:
    with Server.in_thread(test_controls=True, authorization_mode="RBAC") as server:
        assert call(server, "POST", f"{V1}/reset", headers=server.user("bob").headers)[0] == 403
        assert call(server, "POST", f"{V1}/reset", headers=server.headers)[0] == 200
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "control"}}
        rules = [{"nonResourceURLs": [f"{V1}/*"], "verbs": ["*"]}]
        ref = {"kind": "ClusterRole", "name": "control", "apiGroup": "rbac.authorization.k8s.io"}
        subject = {"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}
        binding = {**role, "kind": "ClusterRoleBinding", "roleRef": ref, "subjects": [subject]}
        server.apply({**role, "rules": rules}, binding)
        assert call(server, "GET", f"{V1}/clock", headers=server.user("bob").headers)[0] == 200


def test_the_command_line_has_them() -> None:
    import subprocess

    line = command("serve", "--port", "0", "--test-controls")
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().removeprefix("serving on ").strip()
        try:
            with urllib.request.urlopen(f"{url}{V1}/clock") as answer:
                assert json.loads(answer.read())["frozen"] is False
        finally:
            running.terminate()


@pytest.mark.parametrize(
    ("method", "path", "body", "word"),
    [
        ("PUT", "/clock", {"at": "2026-01-01T00:00:00Z"}, "'at'"),
        ("POST", "/clock/advance", {"duration": "1h", "now": 1}, "'now'"),
        ("POST", "/wait", {"object": "namespaces/default", "seconds": 1}, "'seconds'"),
        ("POST", "/users", {"name": "a", "group": "b"}, "'group'"),
        ("POST", "/users", {"name": ""}, "empty"),
    ],
)
def test_a_wrong_member_is_refused(server: RemoteServer, method: str, path: str, body: Any, word: str) -> None:
    status, answer = call(server, method, V1 + path, body)
    assert (status, answer["reason"]) == (400, "BadRequest") and word in answer["message"]
    assert call(server, "GET", f"{V1}/clock")[1]["frozen"] is False
