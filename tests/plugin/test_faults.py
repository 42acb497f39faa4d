"""Faults by request: what matches, what acts, how often."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from http.client import HTTPResponse
from typing import Any

import httpx
import pytest

from hydrofoil import Server
from hydrofoil.testing.remote_server import RemoteServer
from tests.plugin.conftest import MAPS, call, make, names, widgets


def watch(server: Any, query: str = "", agent: str = "") -> HTTPResponse:
    """Open a watch of the config maps."""
    request = urllib.request.Request(f"{server.url}{MAPS}?watch=1{query}", headers={"User-Agent": agent or "test"})
    opened: HTTPResponse = urllib.request.urlopen(request, timeout=20)
    return opened


def event(stream: HTTPResponse) -> tuple[str, str]:
    """Return type and name of the next event."""
    found = json.loads(stream.readline())
    return found["type"], found["object"]["metadata"].get("name", "")


def test_a_status_is_answered_and_nothing_is_stored(elsewhere: RemoteServer) -> None:
    fault = elsewhere.faults.add(
        "status", code=429, reason="TooManyRequests", message="slow down", retry_after=3, verb="create"
    )
    status, body = call(elsewhere, "POST", MAPS, {"metadata": {"name": "a"}})
    assert (status, body["reason"], body["message"], body["details"]) == (
        429,
        "TooManyRequests",
        "slow down",
        {"retryAfterSeconds": 3},
    )
    assert names(elsewhere) == []
    assert (fault.seen, fault.hits, len(elsewhere.faults)) == (1, 1, 1)
    fault.remove()
    fault.remove()
    assert call(elsewhere, "POST", MAPS, {"metadata": {"name": "a"}})[0] == 201
    assert (fault.seen, fault.hits, len(elsewhere.faults)) == (1, 1, 0)


@pytest.mark.parametrize(
    ("code", "reason", "message"),
    [
        (409, "Conflict", "the server reported a conflict"),
        (410, "Expired", "the requested version is too old"),
        (
            500,
            "InternalError",
            'an error on the server ("status code=500") has prevented the request from succeeding',
        ),
        (502, "InternalError", 'an error on the server ("status code=502") has prevented the request from succeeding'),
        (503, "ServiceUnavailable", "the server is currently unable to handle the request"),
        (418, "Unknown", 'an error on the server ("status code=418") has prevented the request from succeeding'),
    ],
)
def test_a_code_alone_has_the_words_of_clients(thread: RemoteServer, code: int, reason: str, message: str) -> None:
    thread.faults.add("status", code=code)
    status, body = call(thread, "GET", MAPS)
    assert (status, body["reason"], body["message"]) == (code, reason, message)


def test_a_denial_has_the_words_of_rbac(elsewhere: RemoteServer) -> None:
    elsewhere.faults.add("deny", resource="configmaps", message="for the test")
    status, body = call(elsewhere, "GET", MAPS)
    want = 'configmaps is forbidden: User "admin" cannot list resource "configmaps" in API group "" '
    assert (status, body["message"]) == (403, f'{want}in the namespace "default": for the test')


@pytest.mark.parametrize(
    ("match", "path", "method", "hit"),
    [
        ({"verb": "list"}, MAPS, "GET", True),
        ({"verb": "get"}, MAPS, "GET", False),
        ({"verb": ["get", "list"]}, MAPS, "GET", True),
        ({"resource": "configmaps"}, MAPS, "GET", True),
        ({"resource": "config*"}, MAPS, "GET", True),
        ({"resource": "pods"}, MAPS, "GET", False),
        ({"resource": "deployments.apps"}, "/apis/apps/v1/deployments", "GET", True),
        ({"resource": "pods/status"}, "/api/v1/namespaces/default/pods/p/status", "GET", True),
        ({"resource": "pods"}, "/api/v1/namespaces/default/pods/p/status", "GET", False),
        ({"namespace": "default"}, MAPS, "GET", True),
        ({"namespace": "other"}, MAPS, "GET", False),
        ({"name": "a"}, f"{MAPS}/a", "GET", True),
        ({"name": "b"}, f"{MAPS}/a", "GET", False),
        ({"user": "admin"}, MAPS, "GET", True),
        ({"user": "bob"}, MAPS, "GET", False),
        ({"agent": "Python-urllib/*"}, MAPS, "GET", True),
        ({"agent": "kubectl*"}, MAPS, "GET", False),
        ({"path": "/version"}, "/version", "GET", True),
        ({"path": "/api/*"}, MAPS, "GET", True),
        ({}, "/version", "GET", False),
        ({}, MAPS, "GET", True),
        ({"path": "*"}, "/healthz", "GET", False),
        ({"path": "*"}, "/readyz", "GET", False),
    ],
)
def test_a_fault_hits_what_it_matches(
    thread: RemoteServer, match: dict[str, Any], path: str, method: str, hit: bool
) -> None:
    fault = thread.faults.add("status", code=418, **match)
    assert (call(thread, method, path)[0] == 418) is hit
    assert (fault.seen, fault.hits) == ((1, 1) if hit else (0, 0))


def test_the_nth_and_so_many_times(thread: RemoteServer) -> None:
    second = thread.faults.add("status", code=500, verb="list", nth=2)
    assert [call(thread, "GET", MAPS)[0] for _ in range(4)] == [200, 500, 200, 200]
    assert (second.seen, second.hits) == (4, 1)
    thread.faults.clear()
    twice = thread.faults.add("status", code=500, verb="list", times=2)
    assert [call(thread, "GET", MAPS)[0] for _ in range(4)] == [500, 500, 200, 200]
    assert (twice.seen, twice.hits) == (4, 2), "a spent fault matches, and does not act"


def test_delays_add_up_and_of_the_others_the_first_acts(thread: RemoteServer) -> None:
    slow = [thread.faults.add("delay", seconds=s, verb="list") for s in (0.1, (0.1, 0.1))]
    first = thread.faults.add("status", code=500, verb="list")
    later = thread.faults.add("status", code=501, verb="list")
    begun = time.monotonic()
    assert call(thread, "GET", MAPS)[0] == 500
    assert time.monotonic() - begun >= 0.2
    assert [f.hits for f in (*slow, first, later)] == [1, 1, 1, 0]
    assert later.seen == 1


def test_faults_are_printable_and_counted(elsewhere: RemoteServer) -> None:
    faults = elsewhere.faults
    one, two = (
        faults.add("delay", seconds=0.5, resource="pods", times=3),
        faults.add("cut", when="after", verb="create"),
    )
    assert list(faults) == [one, two] and len(faults) == 2
    assert str(one) == "delay resource=pods seconds=0.5 times=3 (seen 0, hits 0)"
    assert str(faults).splitlines() == [str(one), str(two)]
    faults.clear()
    assert len(faults) == 0


@pytest.mark.parametrize(
    ("action", "given", "error"),
    [
        ("explode", {}, ValueError),
        ("status", {}, TypeError),
        ("status", {"code": None}, TypeError),
        ("delay", {"seconds": None}, TypeError),
        ("delay", {"seconds": float("inf")}, ValueError),
        ("status", {"code": 200}, ValueError),
        ("status", {"code": "500"}, TypeError),
        ("status", {"code": 500, "colour": "red"}, TypeError),
        ("delay", {"seconds": -1}, ValueError),
        ("delay", {"seconds": (2, 1)}, ValueError),
        ("delay", {"seconds": "soon"}, TypeError),
        ("delay", {}, TypeError),
        ("deny", {"verb": "fetch"}, ValueError),
        ("deny", {"nth": 0}, ValueError),
        ("deny", {"times": 0}, ValueError),
        ("deny", {"resource": 5}, TypeError),
        ("cut", {"when": "never"}, ValueError),
        ("cut", {"after": 1}, ValueError),
        ("stall", {}, ValueError),
        ("stall", {"verb": "watch", "after": -1}, ValueError),
        ("no-bookmarks", {"after": 1}, TypeError),
    ],
)
def test_a_wrong_name_is_an_error_at_once(
    elsewhere: RemoteServer, action: str, given: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        elsewhere.faults.add(action, **given)
    assert len(elsewhere.faults) == 0


@pytest.mark.parametrize(("when", "stored", "bytes_"), [("before", False, 0), ("after", True, 0), ("body", True, 1)])
def test_a_connection_is_cut(thread: RemoteServer, when: str, stored: bool, bytes_: int) -> None:
    fault = thread.faults.add("cut", when=when, verb="create")
    connection = http.client.HTTPConnection(thread.host, thread.port, timeout=20)
    try:
        body = json.dumps({"metadata": {"name": "a"}})
        if not bytes_:
            # The connection may be cut while the body is being sent, after the head.
            with pytest.raises(ConnectionError):
                connection.request("POST", MAPS, body, {"Content-Type": "application/json"})
                connection.getresponse()
        else:
            connection.request("POST", MAPS, body, {"Content-Type": "application/json"})
            with connection.getresponse() as answer, pytest.raises(http.client.IncompleteRead) as e:
                answer.read()
            whole = int(answer.headers["Content-Length"])
            assert len(e.value.partial) == whole // 2
    finally:
        connection.close()
    assert names(thread) == (["a"] if stored else [])
    assert fault.hits == 1


def test_half_of_a_long_list_is_cut(thread: RemoteServer) -> None:
    for n in range(8):
        make(thread, f"m{n}", a="x" * 200_000)
    thread.faults.add("cut", when="body", verb="list")
    with urllib.request.urlopen(thread.url + MAPS) as answer, pytest.raises(http.client.IncompleteRead):
        answer.read()


def test_a_watch_is_cut_after_events(elsewhere: RemoteServer) -> None:
    fault = elsewhere.faults.add("cut", verb="watch", after=2)
    with watch(elsewhere) as stream:
        for n in range(3):
            make(elsewhere, f"m{n}")
        assert [event(stream) for _ in range(2)] == [("ADDED", "m0"), ("ADDED", "m1")]
        with pytest.raises((http.client.IncompleteRead, ConnectionError, json.JSONDecodeError)):
            json.loads(stream.readline())
    assert fault.hits == 1


def test_an_open_watch_is_cut_as_well(thread: RemoteServer) -> None:
    with watch(thread) as stream:
        make(thread, "a")
        assert event(stream) == ("ADDED", "a")
        fault = thread.faults.add("cut", verb="watch")
        with pytest.raises((http.client.IncompleteRead, ConnectionError, json.JSONDecodeError)):
            json.loads(stream.readline())
    assert (fault.seen, fault.hits) == (1, 1)


def test_a_stalled_watch_is_silent_until_the_fault_is_removed(elsewhere: RemoteServer) -> None:
    fault = elsewhere.faults.add("stall", verb="watch", agent="slow", after=1)
    with watch(elsewhere, agent="slow") as stalled, watch(elsewhere) as other:
        for n in range(3):
            make(elsewhere, f"m{n}")
        assert [event(other) for _ in range(3)] == [("ADDED", f"m{n}") for n in range(3)]
        assert event(stalled) == ("ADDED", "m0")
        assert {w.agent: w.events for w in elsewhere.watches} == {"slow": 1, "test": 3}
        held: list[tuple[str, str]] = []
        reader = threading.Thread(target=lambda: held.append(event(stalled)))
        reader.start()
        assert fault.hits == 1 and held == []
        fault.remove()
        reader.join()
        assert [*held, event(stalled)] == [("ADDED", "m1"), ("ADDED", "m2")]


def test_versions_expire(elsewhere: RemoteServer) -> None:
    make(elsewhere, "a")
    make(elsewhere, "b")
    page = call(elsewhere, "GET", f"{MAPS}?limit=1")[1]["metadata"]
    fault = elsewhere.faults.add("expire", resource="configmaps")
    assert call(elsewhere, "GET", MAPS)[0] == 200, "a list of the present does not expire"
    for query in (f"limit=1&continue={page['continue']}", f"resourceVersion={page['resourceVersion']}"):
        status, body = call(elsewhere, "GET", f"{MAPS}?{query}")
        assert (status, body["reason"]) == (410, "Expired")
    assert fault.hits == 2
    with pytest.raises(urllib.error.HTTPError) as e:
        watch(elsewhere, f"&resourceVersion={page['resourceVersion']}")
    with e.value:
        assert e.value.code == 410


def test_an_open_watch_expires_after_events(elsewhere: RemoteServer) -> None:
    elsewhere.faults.add("expire", verb="watch", after=1)
    with watch(elsewhere) as stream:
        make(elsewhere, "a")
        make(elsewhere, "b")
        assert event(stream) == ("ADDED", "a")
        error = json.loads(stream.readline())
        assert (error["type"], error["object"]["code"], error["object"]["reason"]) == ("ERROR", 410, "Expired")
        assert stream.readline() == b""


def test_no_bookmarks(thread: RemoteServer) -> None:
    query = "&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    make(thread, "a")
    with watch(thread, query) as stream:
        assert [event(stream)[0] for _ in range(2)] == ["ADDED", "BOOKMARK"]
        thread.clock.freeze()
        thread.clock.advance("2m")
        assert event(stream)[0] == "BOOKMARK"
        fault = thread.faults.add("no-bookmarks", resource="configmaps")
        thread.clock.advance("5m")
        make(thread, "b")
        assert event(stream) == ("ADDED", "b")
    assert fault.hits == 1


def test_faults_fire_exactly_as_often_as_asked(thread: RemoteServer) -> None:
    fault = thread.faults.add("status", code=503, verb="get", times=25)
    codes: list[int] = []
    threads = [
        threading.Thread(target=lambda: codes.extend(call(thread, "GET", f"{MAPS}/a")[0] for _ in range(20)))
        for _ in range(4)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (codes.count(503), codes.count(404), fault.hits) == (25, 55, 25)


def test_verbs_are_patterns_as_other_words(thread: RemoteServer) -> None:
    thread.faults.add("status", code=500, verb="*", namespace="other")
    deletes = thread.faults.add("status", code=503, verb="delete*")
    assert call(thread, "GET", "/api/v1/namespaces/other/pods")[0] == 500
    assert call(thread, "DELETE", MAPS)[0] == call(thread, "DELETE", f"{MAPS}/a")[0] == 503
    assert deletes.hits == 2
    with pytest.raises(ValueError, match="no verb 'remove\\*'"):
        thread.faults.add("status", code=503, verb="remove*")


async def test_httpx_sees_a_cut_in_memory_as_one_of_a_socket() -> None:
    async with Server() as server, httpx.AsyncClient(transport=server.transport()) as client:
        for when, error in (("before", httpx.RemoteProtocolError), ("body", httpx.RemoteProtocolError)):
            server.faults.add("cut", when=when, verb="list", times=1)
            with pytest.raises(error):
                await client.get(MAPS)
        assert (await client.get(MAPS)).status_code == 200


@pytest.mark.parametrize("end", ["remove", "clear", "reset", "stop"])
def test_requests_are_not_delayed_by_a_fault_that_is_gone(end: str) -> None:
    with Server.in_thread() as server:
        fault = server.faults.add("delay", seconds=600, verb="get")
        answers: list[object] = []

        def ask() -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                answers.append(call(server, "GET", f"{MAPS}/a")[0])

        asking = threading.Thread(target=ask)
        asking.start()
        while not fault.hits:
            pass
        acts = {"remove": fault.remove, "clear": server.faults.clear, "reset": server.reset, "stop": server.stop}
        acts[end]()
        asking.join(2)
        assert not asking.is_alive() and answers in ([404], []) and (answers or end == "stop")


def test_a_creation_has_the_name_in_its_body(elsewhere: RemoteServer) -> None:
    """A body that no handler could read matches no name, and is refused as ever."""
    elsewhere.apply(widgets())
    fault = elsewhere.faults.add("status", code=503, verb="create", name="chosen*")
    boats, yaml = "/apis/example.com/v1/namespaces/default/widgets", {"Content-Type": "application/yaml"}
    boat = {"apiVersion": "example.com/v1", "kind": "Widget"}
    for path, body, headers, status in (
        (MAPS, {"metadata": {"name": "chosen"}}, {}, 503),
        (MAPS, {"metadata": {"name": "chosen-2"}}, yaml, 503),
        (MAPS, {"metadata": {"name": "other"}, "data": {"a": "b"}}, {}, 201),
        (MAPS, {"metadata": {"generateName": "chosen-"}}, {}, 201),
        (boats, {**boat, "metadata": {"name": "chosen"}}, {}, 503),
        (boats, {**boat, "metadata": {"name": "other"}}, {}, 201),
        (MAPS, ["chosen"], {}, 400),
        (MAPS, {"metadata": {"name": "chosen"}}, {"Content-Type": "text/plain"}, 415),
    ):
        assert call(elsewhere, "POST", path, body, headers)[0] == status, (path, body)
    assert (fault.seen, fault.hits) == (3, 3)
    assert call(elsewhere, "GET", f"{MAPS}/other")[1]["data"] == {"a": "b"}
    assert elsewhere.requests.of(verb="create", name="other", resource="configmaps")[0].body
