"""A kube-apiserver and this server on one etcd: each reads, watches, updates and deletes the other's objects."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from hydrofoil.bench.starting import account_key
from tests.api.data_dirs import BOATS, DEFINITION
from tests.conftest import command
from tests.etcd import Etcd, free_port

PROGRAM = shutil.which("kube-apiserver")
TOKEN = "token"
PATIENCE = 60.0
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE

pytestmark = [
    pytest.mark.program("etcd"),
    pytest.mark.skipif(PROGRAM is None, reason="kube-apiserver is absent"),
    pytest.mark.timeout(180),
]


class Both(NamedTuple):
    """The URLs of the two servers."""

    theirs: str
    ours: str


def call(url: str, method: str = "GET", body: Any = None) -> tuple[int, Any]:
    """Return status and body of an answer."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20, context=CONTEXT) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text.startswith(b"{") else text
    except urllib.error.HTTPError as e:
        with e:
            text = e.read()
        return e.code, json.loads(text) if text.startswith(b"{") else text


def ready(url: str) -> None:
    """Wait until a server is ready."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if call(f"{url}/readyz")[0] == 200:
                return
        except OSError:
            pass
        assert time.monotonic() < end, url
        time.sleep(0.1)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("both")
    tokens, key = folder / "tokens.csv", folder / "accounts.key"
    tokens.write_text(f"{TOKEN},admin,1,system:masters\n")
    key.write_bytes(account_key())
    with ExitStack() as stack:
        etcd = Etcd(folder)
        stack.callback(etcd.kill)
        assert PROGRAM
        port, own = free_port(), free_port()
        flags = [f"--etcd-servers={etcd.url}", f"--secure-port={port}", "--bind-address=127.0.0.1"]
        flags += [f"--cert-dir={folder}", f"--token-auth-file={tokens}", "--authorization-mode=RBAC"]
        flags += [f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}"]
        flags += ["--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/24"]
        for name, line in {
            "theirs": [PROGRAM, *flags],
            "ours": command("serve", "--port", str(own), "--etcd-servers", etcd.url),
        }.items():
            with (folder / f"{name}.log").open("wb") as out:
                running = subprocess.Popen(line, stdout=out, stderr=out)
            stack.callback(running.wait)
            stack.callback(running.kill)
        found = Both(f"https://127.0.0.1:{port}", f"http://127.0.0.1:{own}")
        for url in found:
            ready(url)
        yield found


def exchanged(one: str, other: str, path: str, body: dict[str, Any]) -> None:
    """Create an object by one server; read, update and delete it by the other."""
    code, made = call(one + path, "POST", body)
    assert code == 201, made
    at = f"{path}/{made['metadata']['name']}"
    assert call(other + at) == (200, call(one + at)[1])
    code, changed = call(other + at, "PUT", {**made, "metadata": {**made["metadata"], "labels": {"a": "b"}}})
    assert code == 200, changed
    assert call(one + at) == (200, changed)
    assert call(one + at, "PUT", made)[0] == 409
    code, gone = call(one + at, "DELETE", {"gracePeriodSeconds": 0})
    assert code == 200, gone
    assert call(other + at)[0] == call(one + at)[0] == 404


POD = {"containers": [{"name": "c", "image": "i"}]}
OBJECTS: dict[str, dict[str, Any]] = {
    "/api/v1/namespaces/default/configmaps": {"data": {"k": "v"}},
    "/api/v1/namespaces/default/secrets": {"stringData": {"k": "v"}},
    "/api/v1/namespaces/default/services": {"spec": {"ports": [{"port": 80}]}},
    "/api/v1/namespaces/default/endpoints": {"subsets": [{"addresses": [{"ip": "192.0.2.1"}]}]},
    "/api/v1/nodes": {},
    "/apis/apps/v1/namespaces/default/deployments": {
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD},
        }
    },
    "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers": {
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}
    },
    "/apis/networking.k8s.io/v1/namespaces/default/ingresses": {
        "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}
    },
    "/apis/events.k8s.io/v1/namespaces/default/events": {
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "action": "a",
        "reason": "r",
        "type": "Normal",
        "reportingController": "x.y/z",
        "reportingInstance": "i",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
    },
}


@pytest.mark.parametrize("path", OBJECTS)
def test_objects_are_exchanged(both: Both, path: str) -> None:
    body = {"metadata": {"name": "x"}, **OBJECTS[path]}
    exchanged(both.theirs, both.ours, path, body)
    exchanged(both.ours, both.theirs, path, body)


def test_custom_resources_are_exchanged(both: Both) -> None:
    for one, other in (both, both[::-1]):
        assert call(one + CRDS, "POST", DEFINITION)[0] == 201
        end = time.monotonic() + PATIENCE
        while any(call(url + BOATS)[0] != 200 for url in both):
            assert time.monotonic() < end
            time.sleep(0.1)
        boat = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}, "color": "red"}
        exchanged(one, other, BOATS, boat)
        assert call(f"{other}{CRDS}/boats.example.com", "DELETE")[0] == 200
        while any(call(f"{url}{CRDS}/boats.example.com")[0] != 404 for url in both):
            assert time.monotonic() < end
            time.sleep(0.1)


def test_watches_see_writes_of_the_other(both: Both) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    for one, other in (both, both[::-1]):
        version = call(one + path)[1]["metadata"]["resourceVersion"]
        url = f"{one}{path}?watch=1&resourceVersion={version}&timeoutSeconds=20"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request, timeout=20, context=CONTEXT) as watch:
            made = call(other + path, "POST", {"metadata": {"name": "w"}})[1]
            event = json.loads(watch.readline())
            assert (event["type"], event["object"]["metadata"]) == ("ADDED", made["metadata"])
            assert call(f"{other}{path}/w", "DELETE")[0] == 200
            assert json.loads(watch.readline())["type"] == "DELETED"
