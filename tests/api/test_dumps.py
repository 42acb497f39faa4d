"""`hydrofoil export` and `hydrofoil import`: round trips, and what cannot be taken."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.data_dirs import called
from tests.api.dumps import APPS, BOATS, SELECTED, fill, lists, run, serving

ASSIGNED = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TIMES = ("resourceVersion",)


@pytest.fixture(scope="module")
def source() -> Iterator[str]:
    """Yield a server with objects."""
    with serving() as url:
        fill(url)
        yield url


@pytest.fixture
def target() -> Iterator[str]:
    with serving() as url:
        yield url


@pytest.fixture(scope="module")
def dump(source: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an export."""
    place = tmp_path_factory.mktemp("dumps") / "dump"
    assert run("export", str(place), "--server", source)[0] == 0
    return place


def test_an_export_is_private_complete_and_in_order(source: str, dump: Path) -> None:
    manifest = json.loads((dump / "manifest.json").read_text())
    assert manifest["format"] == 1 and manifest["time"].endswith("Z")
    assert manifest["server"]["gitVersion"] == called(f"{source}/version")["gitVersion"]
    names = [f"{r['resource']}.{r['group']}".rstrip(".") for r in manifest["resources"]]
    assert names[:2] == ["customresourcedefinitions.apiextensions.k8s.io", "namespaces"]
    assert len(names) == len(set(names)) and {"boats.example.com", "pods", "deployments.apps"} <= set(names)
    assert not {"events", "events.events.k8s.io", "leases.coordination.k8s.io"} & set(names)
    for resource in manifest["resources"]:
        text = (dump / resource["file"]).read_text()
        objects = [json.loads(line) for line in text.splitlines()]
        assert len(objects) == resource["count"]
        group, version = resource["group"], resource["version"]
        kinds = {(o["apiVersion"], o["kind"]) for o in objects}
        assert kinds <= {(f"{group}/{version}" if group else version, resource["kind"])}
    (deployment,) = map(json.loads, (dump / "apps_deployments.jsonl").read_text().splitlines())
    listed = called(f"{source}/apis/apps/v1/deployments")["items"][0]
    assert deployment == {"apiVersion": "apps/v1", "kind": "Deployment", **listed}
    assert {path.stat().st_mode & 0o777 for path in dump.iterdir()} == {0o600}
    assert dump.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in dump.parent.iterdir()] == [dump.name]


def test_an_export_leaves_out_what_is_asked(source: str, tmp_path: Path) -> None:
    def exported(name: str, *flags: str) -> set[str]:
        code, _, _ = run("export", str(tmp_path / name), "--server", source, *flags)
        assert code == 0
        return {r["resource"] for r in json.loads((tmp_path / name / "manifest.json").read_text())["resources"]}

    assert "secrets" not in (without := exported("a", "--without-secrets")) and "configmaps" in without
    assert exported("b", "--include", "leases.coordination.k8s.io,events") == {"leases", "events"}
    assert exported("c", "--include=configmaps", "--include=deployments.apps") == {"configmaps", "deployments"}
    assert "deployments" not in (most := exported("d", "--exclude", "deploy")) and "replicasets" in most


def test_an_export_replaces_nothing(source: str, tmp_path: Path) -> None:
    for name in ("a", "b.tar.gz"):
        place = tmp_path / name
        assert run("export", str(place), "--server", source)[0] == 0
        code, out, err = run("export", str(place), "--server", source)
        assert (code, out, err.count("\n")) == (2, "", 1) and "exists" in err
    assert (tmp_path / "b.tar.gz").stat().st_mode & 0o777 == 0o600
    code, _, err = run("export", str(tmp_path / "c"), "--server", source, "--include", "deploymentz")
    assert code == 2 and "no resource 'deploymentz' (deployment?)" in err
    code, _, err = run("export", str(tmp_path / "c"), "--server", "http://127.0.0.1:1")
    assert code == 1 and err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b.tar.gz"]


def test_a_dump_comes_back_as_it_was(source: str, dump: Path, target: str) -> None:
    code, summary, _ = run("import", str(dump), "--server", target, "--keep-uids")
    assert (code, summary["skipped"], summary["failed"]) == (0, [], [])
    assert summary["read"] == summary["created"] + summary["updated"] + summary["unchanged"]
    assert lists(target, *TIMES) == lists(source, *TIMES)
    code, summary, _ = run("import", str(dump), "--server", target, "--keep-uids")
    assert (code, summary["unchanged"]) == (0, summary["read"])


def test_owners_get_the_uids_of_another_server(source: str, dump: Path, target: str) -> None:
    code, summary, err = run("import", str(dump), "--server", target)
    assert (code, summary["skipped"], summary["failed"], err) == (0, [], [], "")
    there, here = lists(target, *ASSIGNED), lists(source, *ASSIGNED)
    for definition in (*there[DEFINITIONS], *here[DEFINITIONS]):
        # The server says by itself when it accepted it.
        del definition["status"]
    assert there == here
    web = called(f"{target}{APPS}/deployments/web")
    (owner,) = called(f"{target}{APPS}/replicasets/web-1")["metadata"]["ownerReferences"]
    assert owner["uid"] == web["metadata"]["uid"] != called(f"{source}{APPS}/deployments/web")["metadata"]["uid"]
    assert web["status"] == {"replicas": 3, "readyReplicas": 2}
    code, summary, _ = run("import", str(dump), "--server", target, "--resume")
    assert (code, summary["unchanged"]) == (0, summary["read"])
    code, summary, _ = run("import", str(dump), "--server", target, "--on-conflict", "fail")
    assert (code, summary["unchanged"]) == (0, summary["read"])


def test_conflicts(dump: Path, target: str) -> None:
    assert run("import", str(dump), "--server", target)[0] == 0
    boat = called(f"{target}{BOATS}/b")
    called(f"{target}{BOATS}/b", {**boat, "color": "blue"}, "PUT")
    for policy, entries in (("skip", "skipped"), ("fail", "failed")):
        code, summary, _ = run("import", str(dump), "--server", target, "--on-conflict", policy)
        (entry,) = summary[entries]
        assert code == 1 and entry == {
            "source": "example.com_boats.jsonl",
            "line": 1,
            "kind": "Boat",
            "namespace": "team",
            "name": "b",
            "reason": "it exists, and differs",
        }
    assert called(f"{target}{BOATS}/b")["color"] == "blue"
    code, summary, _ = run("import", str(dump), "--server", target, "--on-conflict", "replace")
    assert (code, summary["updated"]) == (0, 1) and called(f"{target}{BOATS}/b")["color"] == "red"
    code, summary, _ = run("import", str(dump), "--server", target, "--keep-uids", "--include", "boats")
    assert (code, [entry["reason"] for entry in summary["skipped"]]) == (1, ["it exists with another uid"])
    code, summary, _ = run(
        "import", str(dump), "--server", target, "--keep-uids", "--include=boats", "--on-conflict=replace"
    )
    assert (code, summary["updated"]) == (0, 1)


def test_a_cut_import_is_completed(dump: Path, target: str) -> None:
    """One that was killed between an object and its status."""
    assert run("import", str(dump), "--server", target)[0] == 0
    web = called(f"{target}{APPS}/deployments/web")
    called(f"{target}{APPS}/deployments/web/status", {**web, "status": {}}, "PUT")
    code, summary, _ = run("import", str(dump), "--server", target)
    assert code == 1 and len(summary["skipped"]) == 1
    code, summary, _ = run("import", str(dump), "--server", target, "--resume")
    assert (code, summary["updated"]) == (0, 1)
    assert called(f"{target}{APPS}/deployments/web")["status"] == web["status"]


def test_dumps_of_others(target: str, tmp_path: Path) -> None:
    """Files as `kubectl cluster-info dump` and must-gather write them; a broken one loses nothing else."""
    folder = tmp_path / "must-gather" / "namespaces" / "team"
    folder.mkdir(parents=True)
    (tmp_path / "must-gather" / "timestamp").write_text("2026-11-28 14:00")
    (tmp_path / "must-gather" / "nodes.yaml").write_text(
        "apiVersion: v1\nkind: NodeList\nitems:\n- metadata: {name: one}\n"
    )
    (folder / "pod.log").write_text("{")
    (folder / "report.json").write_text('{"status": "ok"}')
    maps = {"kind": "ConfigMapList", "apiVersion": "v1", "items": [{"metadata": {"name": "a", "namespace": "team"}}]}
    (folder / "configmaps.json").write_text(json.dumps(maps))
    one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: team}\n"
    (folder / "more.yaml").write_text(f"{one % 'b'}---\n{{\n---\n{one % 'c'}")
    orphan = {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"}
    metadata = {"name": "d", "namespace": "team", "ownerReferences": [orphan]}
    (folder / "owned.json").write_text(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}))
    (folder / "other.yaml").write_text("apiVersion: x.io/v1\nkind: Odd\nmetadata: {name: o}\n")
    code, summary, _ = run("import", str(tmp_path / "must-gather"), "--server", target)
    assert (code, summary["read"], summary["created"]) == (1, 6, 5)
    (broken,) = summary["failed"]
    assert (broken["source"], broken["line"]) == ("namespaces/team/more.yaml", 5)
    reasons = {entry["name"]: entry["reason"] for entry in summary["skipped"]}
    assert reasons == {
        "d": "its owner ConfigMap gone is not in the dump, and is dropped",
        "o": 'the server has no kind "Odd" in version "x.io/v1"',
    }
    names = [item["metadata"]["name"] for item in called(f"{target}/api/v1/namespaces/team/configmaps")["items"]]
    assert [name for name in names if len(name) == 1] == ["a", "b", "c", "d"]


def test_a_live_cluster_is_a_source(source: str, target: str, tmp_path: Path) -> None:
    cluster = {"name": "c", "cluster": {"server": source}}
    context = {"name": "x", "context": {"cluster": "c", "user": ""}}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [cluster],
        "contexts": [context],
        "current-context": "x",
    }
    (tmp_path / "config").write_text(json.dumps(config))
    code, summary, _ = run("import", str(tmp_path / "config"), "--server", target, "--exclude", "secrets")
    assert (code, summary["failed"], summary["skipped"]) == (0, [], [])
    assert called(f"{target}/api/v1/namespaces/team/secrets")["items"] == []
    assert called(f"{target}{BOATS}/b")["color"] == "red"


@pytest.mark.parametrize("name", ["../x.json", "/x.json", "link.json"])
def test_archives_of_attackers_are_refused(target: str, tmp_path: Path, name: str) -> None:
    place = tmp_path / "a.tar.gz"
    node = b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"from-an-archive"}}'
    with tarfile.open(place, "w:gz") as archive:
        for member, data in (("node.json", node), (name, b"")):
            info = tarfile.TarInfo(member)
            info.size = len(data)
            if member == "link.json":
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(info, io.BytesIO(data))
    code, out, err = run("import", str(place), "--server", target)
    assert (code, out, err.count("\n")) == (1, "", 1) and err.startswith(f"hydrofoil: {place}: ")
    assert called(f"{target}/api/v1/nodes")["items"] == []


def post(url: str, *objects: dict[str, Any]) -> list[list[str]]:
    """Store objects as they are; return the outcomes."""
    import urllib.request

    body = b"\n".join(json.dumps(one).encode() for one in objects)
    with urllib.request.urlopen(urllib.request.Request(f"{url}/hydrofoil/v1/import", body), timeout=20) as answer:
        found: list[list[str]] = json.loads(answer.read())["items"]
    return found


def test_objects_as_they_were_are_still_objects(target: str) -> None:
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}

    def change(**metadata: Any) -> dict[str, Any]:
        return {**one, "metadata": {**one["metadata"], **metadata}}  # type: ignore[dict-item]

    deleted = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0, "finalizers": ["x.io/f"]}
    found = post(
        target,
        change(uid="u-1", creationTimestamp="2020-01-01T00:00:00Z", generation=7, **deleted),
        change(name="b/c"),
        change(name=".."),
        change(namespace="nowhere"),
        {**one, "kind": "Odd"},
        {**one, "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "namespace": "default"}},
        {"a": "b"},
        {**one, "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"},
    )
    assert [outcome for outcome, _ in found] == ["created", *(["failed"] * 8)]
    stored = called(f"{target}/api/v1/namespaces/default/configmaps/a")["metadata"]
    assert (stored["uid"], stored["creationTimestamp"]) == ("u-1", "2020-01-01T00:00:00Z")
    assert (stored["generation"], stored["deletionTimestamp"]) == (7, deleted["deletionTimestamp"])


def test_dependants_of_an_owner_that_was_refused_get_the_one_that_is_there(dump: Path, target: str) -> None:
    """With uids kept, in a later request than their owner's."""
    called(f"{target}/api/v1/namespaces", {"metadata": {"name": "team"}})
    there = called(f"{target}{APPS}/deployments", {"metadata": {"name": "web"}, "spec": SELECTED})
    code, summary, _ = run("import", str(dump), "--server", target, "--keep-uids", "--include", "deployments")
    assert (code, len(summary["skipped"])) == (1, 1)
    code, _, _ = run("import", str(dump), "--server", target, "--keep-uids", "--include", "replicasets")
    assert code == 0
    (owner,) = called(f"{target}{APPS}/replicasets/web-1")["metadata"]["ownerReferences"]
    assert owner["uid"] == there["metadata"]["uid"]


@pytest.mark.parametrize("flags", [[], ["--keep-uids"]])
def test_pods_keep_their_ephemeral_containers(target: str, tmp_path: Path, flags: list[str]) -> None:
    debugger = {"name": "debugger", "image": "busybox", "targetContainerName": "c"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "uid": "5bd7c7d4-92e5-4a3e-9a4e-0a3d3c2a1f00"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "ephemeralContainers": [debugger]},
        "status": {"phase": "Running", "ephemeralContainerStatuses": [{"name": "debugger", "image": "busybox"}]},
    }
    (tmp_path / "pod.json").write_text(json.dumps(pod))
    code, summary, _ = run("import", str(tmp_path / "pod.json"), "--server", target, *flags)
    assert (code, summary["created"], summary["failed"]) == (0, 1, [])
    found = called(f"{target}/api/v1/namespaces/default/pods/p")
    assert [c["name"] for c in found["spec"]["ephemeralContainers"]] == ["debugger"]
    assert found["status"]["phase"] == "Running" and found["status"]["ephemeralContainerStatuses"]
    (tmp_path / "pod.json").write_text(json.dumps(found))
    code, summary, _ = run("import", str(tmp_path / "pod.json"), "--server", target, *flags)
    assert (code, summary["unchanged"]) == (0, 1)
