"""Snapshots, restore, reset and compaction."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from hydrofoil import Server, StartError
from hydrofoil.testing.process import InProcess
from hydrofoil.testing.remote_server import RemoteServer
from tests.plugin.conftest import MAPS, call, make, names, widgets

WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"


def test_objects_come_back_as_they_were_and_only_what_differed_is_new(elsewhere: RemoteServer) -> None:
    kept, changed = make(elsewhere, "kept", a="1"), make(elsewhere, "changed", a="1")
    before = elsewhere.snapshot()
    call(elsewhere, "PUT", f"{MAPS}/changed", {"metadata": {"name": "changed"}, "data": {"a": "2"}})
    call(elsewhere, "DELETE", f"{MAPS}/kept")
    make(elsewhere, "kept", a="3")
    make(elsewhere, "new")
    late = int(call(elsewhere, "GET", MAPS)[1]["metadata"]["resourceVersion"])
    elsewhere.restore(before)
    assert names(elsewhere) == ["changed", "kept"]
    for made in (kept, changed):
        now = call(elsewhere, "GET", f"{MAPS}/{made['metadata']['name']}")[1]
        assert int(now["metadata"].pop("resourceVersion")) > late
        del made["metadata"]["resourceVersion"]
        assert now == made
    again = call(elsewhere, "GET", MAPS)[1]["items"]
    elsewhere.restore(elsewhere.snapshot())
    assert call(elsewhere, "GET", MAPS)[1]["items"] == again, "nothing differed"


def test_a_restore_is_told_as_ordinary_events(thread: RemoteServer) -> None:
    make(thread, "changed", a="1")
    make(thread, "gone")
    before = thread.snapshot()
    version = call(thread, "GET", MAPS)[1]["metadata"]["resourceVersion"]
    call(thread, "PUT", f"{MAPS}/changed", {"metadata": {"name": "changed"}, "data": {"a": "2"}})
    call(thread, "DELETE", f"{MAPS}/gone")
    make(thread, "new")
    with urllib.request.urlopen(f"{thread.url}{MAPS}?watch=1&resourceVersion={version}", timeout=20) as watch:
        thread.restore(before)
        events = [json.loads(watch.readline()) for _ in range(6)]
    told = [(e["type"], e["object"]["metadata"]["name"]) for e in events]
    assert told[:3] == [("MODIFIED", "changed"), ("DELETED", "gone"), ("ADDED", "new")]
    assert sorted(told[3:]) == [("ADDED", "gone"), ("DELETED", "new"), ("MODIFIED", "changed")]
    revisions = [int(e["object"]["metadata"]["resourceVersion"]) for e in events]
    assert revisions == sorted(revisions)


def test_versions_and_tokens_from_before_stay_readable(thread: RemoteServer) -> None:
    for n in range(4):
        make(thread, f"m{n}")
    page = call(thread, "GET", f"{MAPS}?limit=2")[1]["metadata"]
    before = thread.snapshot()
    call(thread, "DELETE", f"{MAPS}/m3")
    thread.restore(before)
    rest = call(thread, "GET", f"{MAPS}?limit=2&continue={page['continue']}")[1]
    assert [i["metadata"]["name"] for i in rest["items"]] == ["m2", "m3"]
    exact = f"{MAPS}?resourceVersion={page['resourceVersion']}&resourceVersionMatch=Exact"
    assert len(call(thread, "GET", exact)[1]["items"]) == 4


def test_definitions_come_and_go(elsewhere: RemoteServer) -> None:
    before = elsewhere.snapshot()
    elsewhere.apply(widgets())
    call(elsewhere, "POST", WIDGETS, {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}})
    with_them = elsewhere.snapshot()
    with urllib.request.urlopen(f"{elsewhere.url}{WIDGETS}?watch=1", timeout=20) as watch:
        assert json.loads(watch.readline())["type"] == "ADDED"
        elsewhere.restore(before)
        assert json.loads(watch.readline())["type"] == "DELETED"
        assert watch.readline() == b"", "the watch of a definition that has gone ends"
    assert call(elsewhere, "GET", WIDGETS)[0] == 404
    assert "example.com" not in {group["name"] for group in call(elsewhere, "GET", "/apis")[1]["groups"]}
    elsewhere.restore(with_them)
    assert len(call(elsewhere, "GET", WIDGETS)[1]["items"]) == 1
    paths = call(elsewhere, "GET", "/openapi/v3")[1]["paths"]
    assert "apis/example.com/v1" in paths


def test_allocations_are_those_of_the_state(thread: RemoteServer) -> None:
    before = thread.snapshot()
    services = "/api/v1/namespaces/default/services"
    spec = {"clusterIP": "10.0.0.77", "type": "NodePort", "ports": [{"port": 80, "nodePort": 30777}]}
    for _ in range(2):
        assert call(thread, "POST", services, {"metadata": {"name": "s"}, "spec": spec})[0] == 201
        assert call(thread, "POST", services, {"metadata": {"name": "t"}, "spec": spec})[0] == 422
        thread.restore(before)


def test_a_deletion_under_way_does_not_touch_what_was_restored(thread: RemoteServer) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    maps = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{n}", "namespace": "team"}}
        for n in range(300)
    ]
    thread.apply(namespace, maps)
    before = thread.snapshot()
    for _ in range(3):
        call(thread, "DELETE", "/api/v1/namespaces/team")
        thread.restore(before)
        found = call(thread, "GET", "/api/v1/namespaces/team")[1]
        assert found["status"]["phase"] == "Active"
        items = call(thread, "GET", "/api/v1/namespaces/team/configmaps")[1]["items"]
        assert len([i for i in items if i["metadata"]["name"].startswith("m")]) == 300


def test_a_token_of_an_account_that_a_restore_removed_is_refused(thread: RemoteServer) -> None:
    """A login is kept for a moment, but not beyond the state that it rests on."""
    before = thread.snapshot()
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    assert call(thread, "POST", accounts, {"metadata": {"name": "builder"}})[0] == 201
    made = call(thread, "POST", f"{accounts}/builder/token", {"spec": {}})[1]
    headers = {"Authorization": f"Bearer {made['status']['token']}"}
    # The account has no rights, but is known.
    assert call(thread, "GET", MAPS, headers=headers)[0] == 403
    thread.restore(before)
    assert call(thread, "GET", MAPS, headers=headers)[0] == 401


def test_a_snapshot_belongs_to_its_server(elsewhere: RemoteServer) -> None:
    with Server.in_thread() as other, pytest.raises(ValueError, match="another server"):
        other.restore(elsewhere.snapshot())


def test_only_a_snapshot_is_restored(elsewhere: RemoteServer) -> None:
    for other in ("path", None, 5):
        with pytest.raises(TypeError, match="is no Snapshot"):
            elsewhere.restore(other)  # type: ignore[arg-type]


def test_a_saved_snapshot_starts_a_server(elsewhere: RemoteServer, tmp_path: Path) -> None:
    elsewhere.apply(widgets())
    call(elsewhere, "POST", WIDGETS, {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}})
    made = make(elsewhere, "a", x="1")
    state = elsewhere.snapshot()
    assert int(state.resource_version) >= int(made["metadata"]["resourceVersion"])
    state.save(tmp_path / "state")
    for given in (tmp_path / "state", str(tmp_path / "state"), state):
        for form in (Server.in_thread, Server.in_process):
            with form(snapshot=given) as server:
                assert call(server, "GET", f"{MAPS}/a")[1] == made
                assert len(call(server, "GET", WIDGETS)[1]["items"]) == 1
                newer = make(server, "b")
                assert int(newer["metadata"]["resourceVersion"]) > int(state.resource_version)
                server.reset()
                assert names(server) == ["a"]


def test_a_snapshot_of_a_server_that_has_stopped_starts_none(elsewhere: RemoteServer) -> None:
    state = elsewhere.snapshot()
    elsewhere.stop()
    with pytest.raises(StartError, match="the server of the snapshot has stopped"):
        Server.in_thread(snapshot=state).start()


def test_a_damaged_snapshot_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with Server.in_thread() as server:
        server.snapshot().save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(StartError, match=f"cannot start with {path}: it is damaged"):
        Server.in_thread(snapshot=path).start()


def test_reset_is_the_state_at_readiness(elsewhere: RemoteServer) -> None:
    make(elsewhere, "a")
    elsewhere.apply(widgets())
    elsewhere.faults.add("deny", resource="secrets")
    elsewhere.clock.freeze("2030-01-01T00:00:00Z")
    elsewhere.reset()
    assert names(elsewhere) == []
    assert call(elsewhere, "GET", WIDGETS)[0] == 404
    assert len(elsewhere.faults) == 0 and len(elsewhere.requests) == 2
    assert elsewhere.clock.now.year < 2030
    accounts: Any = call(elsewhere, "GET", "/api/v1/serviceaccounts")[1]["items"]
    versions = [a["metadata"]["resourceVersion"] for a in accounts]
    elsewhere.reset()
    accounts = call(elsewhere, "GET", "/api/v1/serviceaccounts")[1]["items"]
    assert versions == [a["metadata"]["resourceVersion"] for a in accounts], "what did not differ stays"


def test_compaction_ends_history_and_open_watches_go_on(elsewhere: RemoteServer) -> None:
    for n in range(3):
        make(elsewhere, f"m{n}")
    page = call(elsewhere, "GET", f"{MAPS}?limit=1")[1]["metadata"]
    with urllib.request.urlopen(f"{elsewhere.url}{MAPS}?watch=1&resourceVersion={page['resourceVersion']}") as watch:
        make(elsewhere, "m3")
        elsewhere.compact()
        assert call(elsewhere, "GET", f"{MAPS}?limit=1&continue={page['continue']}")[0] == 410
        exact = f"{MAPS}?resourceVersion={page['resourceVersion']}&resourceVersionMatch=Exact"
        assert call(elsewhere, "GET", exact)[0] == 410
        make(elsewhere, "m4")
        seen = [json.loads(watch.readline())["object"]["metadata"]["name"] for _ in range(2)]
    assert seen == ["m3", "m4"]


def test_a_thousand_snapshots_are_dropped(thread: RemoteServer) -> None:
    for _ in range(1000):
        thread.snapshot()
    thread.clock.run()
    core = thread._core  # type: ignore[attr-defined]
    assert len(core.states) <= 1


def test_a_snapshot_collected_within_a_call_of_a_process() -> None:
    with Server.in_process() as server:
        with pytest.raises(FileNotFoundError):
            # The failure has this frame, and so the snapshot: the thread that reads answers is the last to drop it.
            server.snapshot().save("/nowhere/at/all")
        server.reset()
        calls = server.caller
        assert isinstance(calls, InProcess)
        with calls._lock:
            # As one that is collected while a call is sent.
            calls.post("drop_snapshot", 0)
        assert server.clock.now
