"""`serve --from`: yesterday's cluster, to look at or to go on with."""

from __future__ import annotations

import json
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.data_dirs import called, events, everything, failed
from tests.api.dumps import APPS, BOATS, fill, lists, run, serving
from tests.conftest import command

MAPS = "/api/v1/namespaces/team/configmaps"


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str], dict[str, list[Any]]]:
    """Return a dump, the versions of all objects in it, and some lists."""
    place = tmp_path_factory.mktemp("dumps") / "dump.tar.gz"
    with serving() as url:
        fill(url)
        assert run("export", str(place), "--server", url)[0] == 0
        return place, everything(url), lists(url)


Dump = tuple[Path, dict[str, str], dict[str, list[Any]]]


@pytest.fixture(scope="module")
def shown(dump: Dump) -> Iterator[str]:
    with serving("--from", str(dump[0]), "--read-only") as url:
        yield url


def test_objects_and_versions_are_those_of_the_dump(dump: Dump, shown: str) -> None:
    _, versions, content = dump
    assert lists(shown) == content
    now = everything(shown)
    # Events and leases are in no dump, nor are reports that are made when they are asked for.
    assert now == {path: version for path, version in versions.items() if path in now}
    assert not [path for path in versions.keys() - now.keys() if "/leases/" not in path and "componentst" not in path]
    highest = max(int(version) for version in now.values() if version)
    assert int(called(f"{shown}/api/v1/pods")["metadata"]["resourceVersion"]) >= highest
    assert {called(f"{shown}/api/v1/{name}")["metadata"]["resourceVersion"] for name in ("pods", "nodes")} == {
        called(f"{shown}{MAPS}")["metadata"]["resourceVersion"]
    }


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        ("POST", MAPS, "configmaps is forbidden"),
        ("POST", f"{MAPS}?dryRun=All", "configmaps is forbidden"),
        ("PUT", f"{APPS}/deployments/web", 'deployments.apps "web" is forbidden'),
        ("PATCH", f"{APPS}/deployments/web/status", 'deployments.apps "web" is forbidden'),
        ("DELETE", f"{BOATS}/b", 'boats.example.com "b" is forbidden'),
        ("DELETE", f"{BOATS}?dryRun=All", "boats.example.com is forbidden"),
        (
            "POST",
            "/api/v1/namespaces/team/serviceaccounts/default/token",
            'serviceaccounts "default" is forbidden',
        ),
        ("POST", "/hydrofoil/v1/import", '"/hydrofoil/v1/import" is forbidden'),
    ],
)
def test_every_write_is_refused(shown: str, method: str, path: str, message: str) -> None:
    status = failed(f"{shown}{path}", {"metadata": {"name": "x"}}, method)
    assert (status["kind"], status["code"], status["reason"]) == ("Status", 403, "Forbidden")
    assert status["message"] == f"{message}: this server is read-only"


def test_reviews_are_answered(shown: str) -> None:
    attributes = {"spec": {"resourceAttributes": {"verb": "list", "resource": "pods"}}}
    for group, name, body in (
        ("authorization.k8s.io", "selfsubjectaccessreviews", attributes),
        ("authorization.k8s.io", "subjectaccessreviews", {"spec": {**attributes["spec"], "user": "jane"}}),
        ("authorization.k8s.io", "selfsubjectrulesreviews", {"spec": {"namespace": "team"}}),
        ("authentication.k8s.io", "selfsubjectreviews", {}),
        ("authentication.k8s.io", "tokenreviews", {"spec": {"token": "x"}}),
    ):
        assert "status" in called(f"{shown}/apis/{group}/v1/{name}", body), name


def test_selectors_tables_and_watches_work(shown: str) -> None:
    assert len(called(f"{shown}/apis/example.com/v1/boats?fieldSelector=color%3Dred")["items"]) == 1
    assert called(f"{shown}/apis/example.com/v1/boats?fieldSelector=color%3Dblue")["items"] == []
    assert events(f"{shown}{APPS}/deployments?watch=1", 1) == [("ADDED", "web")]


@pytest.mark.program("kubectl")
def test_kubectl_looks_into_it(shown: str) -> None:
    def print_of(*words: str) -> tuple[int, str]:
        line = ["kubectl", "--kubeconfig=/dev/null", f"--server={shown}", *words]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    code, text = print_of("get", "deployments,boats", "-A")
    assert code == 0 and "deployment.apps/web" in text and "boat.example.com/b" in text
    assert print_of("auth", "can-i", "list", "pods") == (0, "yes\n")
    code, text = print_of("delete", "namespace", "team")
    assert code == 1 and 'namespaces "team" is forbidden: this server is read-only' in text


def test_a_watch_goes_on_from_a_list(shown: str) -> None:
    version = called(f"{shown}{MAPS}")["metadata"]["resourceVersion"]
    with urllib.request.urlopen(f"{shown}{MAPS}?watch=1&timeoutSeconds=1&resourceVersion={version}") as stream:
        assert stream.read() == b""
    page = called(f"{shown}/api/v1/namespaces?limit=2")["metadata"]
    assert page["resourceVersion"] == version
    assert len(called(f"{shown}/api/v1/namespaces?limit=9&continue={page['continue']}")["items"]) == 3


def test_nothing_expires_and_nobody_is_called(tmp_path: Path) -> None:
    """Events of long ago stay, and the service of another time gets no connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default"}}
        service = {"name": "s", "namespace": "default", "port": port}
        spec = {"group": "x.io", "version": "v1", "service": service, "insecureSkipTLSVerify": True}
        priorities = {"groupPriorityMinimum": 1, "versionPriority": 1}
        remote = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.x.io"}}
        items = [
            {**event, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}},
            {**remote, "spec": {**spec, **priorities}},
        ]
        (tmp_path / "list.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        endpoint = f"--service-endpoints=default/s=127.0.0.1:{port}"
        flags = ("--from", str(tmp_path / "list.json"), "--read-only", "--event-ttl", "1ms", endpoint)
        with serving(*flags) as url:
            with pytest.raises(urllib.error.HTTPError, match="503"):
                called(f"{url}/apis/x.io/v1/things")
            assert len(called(f"{url}/api/v1/events")["items"]) == 1
            assert failed(f"{url}/api/v1/namespaces/default/events/e", method="DELETE")["code"] == 403
            listening.setblocking(False)
            with pytest.raises(BlockingIOError):
                listening.accept()


def test_a_dump_by_hand_is_served(tmp_path: Path) -> None:
    """Without uids, versions, and the conditions of a definition."""
    spec: dict[str, Any] = {
        "group": "x.io",
        "scope": "Cluster",
        "names": {"plural": "odds", "kind": "Odd"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    }
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    (tmp_path / "a.json").write_text(json.dumps({**definition, "metadata": {"name": "odds.x.io"}}))
    (tmp_path / "b.yaml").write_text("apiVersion: x.io/v1\nkind: Odd\nmetadata: {name: o}\n---\n{\n")
    line = command("serve", "--port", "0", "--from", str(tmp_path), "--read-only")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stderr is not None
        url = running.stdout.readline().removeprefix("serving on ").strip()
        (item,) = called(f"{url}/apis/x.io/v1/odds")["items"]
        assert item["metadata"]["uid"] and item["metadata"]["creationTimestamp"]
        running.kill()
        assert "b.yaml:5: cannot read YAML" in running.stderr.read()


def test_it_goes_on_from_a_dump(dump: Dump) -> None:
    place, _, content = dump
    with serving("--from", str(place)) as url:
        assert lists(url)["/apis/example.com/v1/boats"] == content["/apis/example.com/v1/boats"]
        created = called(f"{url}{MAPS}", {"metadata": {"name": "new"}})
        newest = max(int(item["metadata"]["resourceVersion"]) for items in content.values() for item in items)
        assert int(created["metadata"]["resourceVersion"]) > newest


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (["--read-only"], "--read-only is for the objects of a dump"),
        (["--from=x", "--data-dir=y"], "--from and --data-dir exclude each other"),
        (["--from=x", "--etcd-servers=http://y"], "--from and --etcd-servers exclude each other"),
        (["--from=x", "--read-only", "--manifests=y"], "--read-only and --manifests exclude each other"),
    ],
)
def test_flags_that_exclude_each_other(flags: list[str], why: str) -> None:
    code, _, err = run("serve", *flags)
    assert code == 2 and err.startswith(f"hydrofoil: {why}")


def test_what_is_no_dump_ends_the_start_with_a_line() -> None:
    done = subprocess.run(
        command("serve", "--port", "0", "--from", "/nowhere"), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "hydrofoil: /nowhere: no such file or directory (--from takes a dump)\n"
