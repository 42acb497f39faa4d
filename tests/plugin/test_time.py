"""The virtual clock, and repetition with a seed."""

from __future__ import annotations

import base64
import json
import ssl
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from hydrofoil import Server
from hydrofoil.testing.remote_server import RemoteServer
from tests.plugin.conftest import MAPS, call, make

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_clock_stands_still_is_moved_and_runs(elsewhere: RemoteServer) -> None:
    clock = elsewhere.clock
    assert clock.now.tzinfo is not None and abs(clock.now - datetime.now(UTC)) < timedelta(seconds=20)
    clock.freeze(NEW_YEAR)
    assert clock.now == NEW_YEAR
    make(elsewhere, "a")
    assert clock.now == NEW_YEAR, "a frozen clock never moves by itself"
    for duration in ("25h", 90, 0.5, timedelta(minutes=1), 0):
        clock.advance(duration)
    assert clock.now == NEW_YEAR + timedelta(hours=25, seconds=150.5)
    for wrong in (-1, "-1h", timedelta(seconds=-1), "soon"):
        with pytest.raises(ValueError):
            clock.advance(wrong)
    clock.run()
    before = clock.now
    clock.freeze()
    assert clock.now >= before > NEW_YEAR
    with clock.freeze(NEW_YEAR + timedelta(days=400)):
        assert clock.now == NEW_YEAR + timedelta(days=400)
    assert clock.now > NEW_YEAR + timedelta(days=400), "it runs again after the block"
    with pytest.raises(ValueError, match="no zone"):
        clock.freeze("2026-01-01T00:00:00")
    for other in (5, NEW_YEAR.date()):
        with pytest.raises(TypeError, match="no moment"):
            clock.freeze(other)  # type: ignore[arg-type]


def test_the_times_of_objects_follow(elsewhere: RemoteServer) -> None:
    elsewhere.clock.freeze(NEW_YEAR)
    made = make(elsewhere, "a", x="1")["metadata"]
    assert made["creationTimestamp"] == made["managedFields"][0]["time"] == "2026-01-01T00:00:00Z"
    elsewhere.clock.advance("1h")
    merge = {"Content-Type": "application/merge-patch+json"}
    call(elsewhere, "PATCH", f"{MAPS}/a", {"metadata": {"finalizers": ["example.com/stay"]}}, merge)
    deleted = call(elsewhere, "DELETE", f"{MAPS}/a")[1]["metadata"]
    assert deleted["deletionTimestamp"] == "2026-01-01T01:00:00Z"


def test_watches_end_and_are_marked_by_it(thread: RemoteServer) -> None:
    make(thread, "a")
    thread.clock.freeze()
    with urllib.request.urlopen(f"{thread.url}{MAPS}?watch=1&timeoutSeconds=3600&allowWatchBookmarks=true") as watch:
        assert json.loads(watch.readline())["type"] == "ADDED"
        thread.clock.advance(61)
        assert json.loads(watch.readline())["type"] == "BOOKMARK"
        thread.clock.advance("2h")
        rest = [json.loads(line)["type"] for line in watch.read().splitlines()]
    assert set(rest) <= {"BOOKMARK"}, "and it has ended"


def test_history_ends_by_it() -> None:
    with Server.in_thread(history_window="5m", clock="2026-01-01T00:00:00Z") as server:
        make(server, "a")
        version = call(server, "GET", MAPS)[1]["metadata"]["resourceVersion"]
        make(server, "b")
        exact = f"{MAPS}?resourceVersion={version}&resourceVersionMatch=Exact"
        assert call(server, "GET", exact)[0] == 200
        server.clock.advance("1h")
        assert call(server, "GET", exact)[0] == 410


def test_tokens_end_by_it() -> None:
    with Server.in_thread(authorization_mode="RBAC", clock="2026-01-01T00:00:00Z") as server:
        path = "/api/v1/namespaces/default/serviceaccounts/default/token"
        made = call(server, "POST", path, {"spec": {"expirationSeconds": 3600}}, server.headers)[1]["status"]
        assert made["expirationTimestamp"] == "2026-01-01T01:00:00Z"
        claims = json.loads(base64.urlsafe_b64decode(made["token"].split(".")[1] + "=="))
        assert claims["exp"] == int(NEW_YEAR.timestamp()) + 3600
        bearer = {"Authorization": f"Bearer {made['token']}"}
        assert call(server, "GET", "/version", headers=bearer)[0] == 200
        server.clock.advance("2h")
        assert call(server, "GET", "/version", headers=bearer)[0] == 401


def test_events_end_by_it(elsewhere: RemoteServer) -> None:
    about = {"kind": "Pod", "name": "p", "namespace": "default"}
    path = "/api/v1/namespaces/default/events"
    body: Any = {"metadata": {"name": "e1"}, "involvedObject": about, "reason": "Test", "type": "Normal"}
    assert call(elsewhere, "POST", path, body)[0] == 201
    elsewhere.clock.freeze()
    elsewhere.clock.advance("30m")
    assert call(elsewhere, "POST", path, {**body, "metadata": {"name": "e2"}})[0] == 201
    elsewhere.clock.advance("45m")
    assert [e["metadata"]["name"] for e in call(elsewhere, "GET", path)[1]["items"]] == ["e2"]
    elsewhere.clock.advance("1h")
    assert call(elsewhere, "GET", path)[1]["items"] == []


def test_waits_are_real_time(thread: RemoteServer) -> None:
    thread.clock.freeze()
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        thread.wait_for("configmaps/none", timeout=0.2)
    assert 0.2 <= time.monotonic() - begun < 10
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    thread.apply(namespace)
    call(thread, "DELETE", "/api/v1/namespaces/team")
    assert thread.wait_for("namespaces/team", "deleted") is None, "controllers work while the clock stands still"


def answers(server: Any) -> list[tuple[int, dict[str, Any]]]:
    """Return the answers to some requests."""
    ports = {"spec": {"type": "NodePort", "ports": [{"port": 80}]}}
    pod = {"metadata": {"generateName": "p-"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    services = "/api/v1/namespaces/default/services"
    return [
        call(server, "POST", MAPS, {"metadata": {"name": "a"}}),
        call(server, "POST", services, {"metadata": {"name": "s"}, **ports}),
        *(call(server, "POST", "/api/v1/namespaces/default/pods", pod) for _ in range(3)),
        call(server, "PUT", f"{MAPS}/a", {"metadata": {"name": "a"}, "data": {"x": "1"}}),
        call(server, "GET", "/api/v1/namespaces"),
        call(server, "GET", MAPS),
    ]


def test_two_runs_with_one_seed_and_one_clock_get_the_same_bodies() -> None:
    found = []
    for form in (Server.in_thread, Server.in_process, Server.in_thread):
        with form(seed=7, clock="2026-01-01T00:00:00Z") as server:
            found.append(answers(server))
    assert found[0] == found[1] == found[2]
    with Server.in_thread(seed=8, clock="2026-01-01T00:00:00Z") as other:
        assert answers(other) != found[0]


@pytest.mark.parametrize("at", ["2019-01-01T00:00:00Z", "2060-01-01T00:00:00Z"])
def test_handshakes_stay_real(tmp_path: Path, at: str) -> None:
    with Server.in_thread(cert_dir=tmp_path, clock=at) as server:
        assert server.ca is not None and server.url.startswith("https://")
        trusted = ssl.create_default_context(cadata=server.ca)
        server.clock.advance("50000h")
        request = urllib.request.Request(f"{server.url}{MAPS}", headers=server.headers)
        with urllib.request.urlopen(request, context=trusted) as answer:
            assert answer.status == 200


def test_the_certificate_of_the_administrator_follows_the_clock(tmp_path: Path) -> None:
    with Server.in_thread(cert_dir=tmp_path, clock="2019-01-01T00:00:00Z", authorization_mode="RBAC") as server:
        trusted = ssl.create_default_context(cadata=server.ca)
        user = yaml.safe_load((tmp_path / "admin.conf").read_text())["users"][0]["user"]
        pair = tmp_path / "pair.pem"
        pair.write_bytes(b"".join(base64.b64decode(user[f"client-{half}-data"]) for half in ("certificate", "key")))
        trusted.load_cert_chain(pair)
        with urllib.request.urlopen(f"{server.url}{MAPS}", context=trusted) as answer:
            assert answer.status == 200
        server.clock.advance("10000h")
        with pytest.raises(urllib.error.HTTPError) as e:
            urllib.request.urlopen(f"{server.url}{MAPS}", context=trusted)
        assert e.value.code == 401
        e.value.close()


def test_a_seed_repeats_whichever_port_is_free() -> None:
    paths = ("/api/v1/services", "/api/v1/endpoints", "/apis/discovery.k8s.io/v1/endpointslices")
    found = []
    for form in (Server.in_thread, Server.in_process):
        with form(seed=7, clock=NEW_YEAR) as server:
            found.append([call(server, "GET", path) for path in paths])
    assert found[0] == found[1]
