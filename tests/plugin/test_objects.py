"""Objects in the hands of a test: read, written, deleted, and told by Events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydrofoil import ApiError, Server, StartError, WaitTimeout
from hydrofoil.testing.remote_server import RemoteServer
from tests.plugin.conftest import make, widgets

MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}\n"


def widget(**members: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, **members}


def with_status() -> dict[str, Any]:
    """Return the definition with the subresource."""
    found = widgets()
    found["spec"]["versions"][0]["subresources"] = {"status": {}}
    return found


def test_objects_are_read_changed_and_deleted(elsewhere: RemoteServer) -> None:
    make(elsewhere, "a", x="1")
    assert elsewhere.get("configmaps/a")["data"] == {"x": "1"}
    assert elsewhere.patch("configmaps/a", {"data": {"y": "2", "x": None}})["data"] == {"y": "2"}
    operations = [{"op": "add", "path": "/data/z", "value": "3"}]
    assert elsewhere.patch("cm/a", operations)["data"] == {"y": "2", "z": "3"}
    assert elsewhere.patch("configmaps/a", {"data": {"z": None}}, type="strategic")["data"] == {"y": "2"}
    (only,) = elsewhere.list("configmaps", field_selector="metadata.name=a")
    assert (only["kind"], only["apiVersion"], only["data"]) == ("ConfigMap", "v1", {"y": "2"})
    assert elsewhere.list("configmaps", "kube-public", label_selector="nothing=there") == []
    names = {item["metadata"]["namespace"] for item in elsewhere.list("configmaps", None)}
    assert "default" in names
    elsewhere.delete("configmaps/a")
    elsewhere.delete("configmaps/a", ignore_not_found=True)
    for missing in (lambda: elsewhere.get("configmaps/a"), lambda: elsewhere.delete("configmaps/a")):
        with pytest.raises(ApiError, match='configmaps "a" not found') as e:
            missing()
        assert e.value.code == 404
    assert elsewhere.requests.count(agent="hydrofoil") == 0, "requests of the test itself are not recorded"


def test_names_that_nothing_has_are_refused_with_the_near_one(elsewhere: RemoteServer) -> None:
    for call in (elsewhere.get, elsewhere.delete, elsewhere.events):
        with pytest.raises(ValueError, match=r"no resource 'configmps' is served \(configmaps\?\)"):
            call("configmps/a")
        with pytest.raises(ValueError, match="must be resource/name"):
            call("configmaps")
    with pytest.raises(ValueError, match="no type of patch 'apply'"):
        elsewhere.patch("configmaps/a", {}, type="apply")  # type: ignore[arg-type]


async def test_they_can_be_awaited(elsewhere: RemoteServer) -> None:
    async with Server() as own:
        for calls in (elsewhere.aio, own):
            await calls.apply(MAP)
            assert (await calls.get("configmaps/a"))["data"] == {"x": "1"}
            assert (await calls.patch("configmaps/a", {"data": {"x": "2"}}))["data"] == {"x": "2"}
            assert [o["data"] for o in await calls.list("configmaps", field_selector="metadata.name=a")] == [{"x": "2"}]
            await calls.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
            assert (await calls.set_status("namespaces/n", {"phase": "Active"}))["status"]["phase"]
            assert await calls.events("configmaps/a") == []
            await calls.delete("configmaps/a")
            await calls.wait_for("configmaps/a", "deleted")


def test_a_status_is_set_by_members(elsewhere: RemoteServer) -> None:
    elsewhere.apply(with_status(), widget(spec={"size": 1}))
    made = elsewhere.set_status("widgets.example.com/w", {"ready": 1, "message": "starting"})
    assert (made["status"], made["spec"]) == ({"ready": 1, "message": "starting"}, {"size": 1})
    assert elsewhere.set_status("widgets/w", {"ready": 2, "message": None})["status"] == {"ready": 2}
    assert elsewhere.wait_for("widgets/w", "jsonpath={.status.ready}=2")["metadata"]["generation"] == 1


def test_a_pod_becomes_ready(elsewhere: RemoteServer) -> None:
    containers = [{"name": "c", "image": "i"}]
    elsewhere.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}})
    elsewhere.set_status("pods/p", {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})
    assert elsewhere.wait_for("pods/p", "condition=Ready")["status"]["qosClass"] == "BestEffort"


def test_a_resource_without_the_subresource_has_its_status_as_a_member_or_none(elsewhere: RemoteServer) -> None:
    elsewhere.apply(widgets(), widget())
    assert elsewhere.set_status("widgets/w", {"ready": 1})["status"] == {"ready": 1}
    make(elsewhere, "a")
    with pytest.raises(ApiError, match="configmaps have no status"):
        elsewhere.set_status("configmaps/a", {"ready": 1})


def test_the_status_of_a_manifest_is_written_if_it_is_asked_for(elsewhere: RemoteServer, tmp_path: Path) -> None:
    elsewhere.apply(with_status())
    given = widget(spec={"size": 1}, status={"ready": 3})
    assert "status" not in elsewhere.apply(given)[0]
    (tmp_path / "w.json").write_text(json.dumps(given))
    (applied,) = elsewhere.apply(tmp_path / "w.json", status=True)
    assert applied["status"] == {"ready": 3} == elsewhere.get("widgets/w")["status"]
    (applied,) = elsewhere.apply(widget(status={"ready": 4}), status=True)
    assert applied["status"] == {"ready": 4}
    wrong = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}, "status": {"phase": "Terminating"}}
    with pytest.raises(ApiError, match=r'object 1, its status: Namespace "n" is invalid: status.Phase'):
        elsewhere.apply(wrong, status=True)


def test_events_about_an_object(elsewhere: RemoteServer) -> None:
    make(elsewhere, "a")
    about = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "namespace": "default"}
    for reason in ("First", "Second"):
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"generateName": "a."}}
        elsewhere.apply({**event, "involvedObject": about, "reason": reason, "message": "m", "type": "Normal"})
    assert [event["reason"] for event in elsewhere.events("configmaps/a")] == ["First", "Second"]
    assert elsewhere.events("configmaps/b") == []


def test_a_text_is_a_manifest_or_a_path_by_its_form(
    elsewhere: RemoteServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finding 19: never by what there is on the disk."""
    assert elsewhere.apply(MAP)[0]["data"] == {"x": "1"}
    assert elsewhere.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}")[0]["metadata"]["name"] == "b"
    compact = '[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}]'
    assert elsewhere.apply(compact)[0]["metadata"]["name"] == "c"
    (tmp_path / "map.yaml").write_text(MAP)
    monkeypatch.chdir(tmp_path)
    assert elsewhere.apply("map.yaml")[0]["metadata"]["name"] == "a"
    with pytest.raises(FileNotFoundError, match=r"no manifest \(a text is a manifest if .*: '.*/mpa.yaml'"):
        elsewhere.apply("mpa.yaml")
    with pytest.raises(ApiError, match="text 1, document 1: an object needs apiVersion and kind"):
        elsewhere.apply("name: a")
    with pytest.raises(ApiError, match="text 1, document 1: kustomizations are not evaluated: apply what"):
        elsewhere.apply("{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization}")


def test_a_wait_for_a_deletion_returns_nothing(elsewhere: RemoteServer) -> None:
    elsewhere.wait_for("configmaps/a", "deleted")
    with pytest.raises(WaitTimeout):
        elsewhere.wait_for("configmaps/a", timeout=0)


def test_a_reset_returns_to_the_objects_of_the_start(tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text(MAP)
    for option in (tmp_path, [tmp_path / "map.yaml"], str(tmp_path)):
        with Server.in_thread(manifests=option) as server:
            assert len(server.requests) == 0
            server.delete("configmaps/a")
            server.reset()
            assert server.get("configmaps/a")["data"] == {"x": "1"}
    with pytest.raises(StartError, match="watch_manifests= is for the files of manifests="):
        Server.in_thread(watch_manifests=True).start()
    with pytest.raises(StartError, match=r"cannot read the manifests .*nowhere: No such file or directory"):
        Server.in_thread(manifests=tmp_path / "nowhere").start()
