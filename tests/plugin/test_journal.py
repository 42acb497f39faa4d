"""The journal of requests and the open watches."""

from __future__ import annotations

import http.client
import re
import urllib.request
from collections import Counter
from datetime import timedelta

import pytest

from hydrofoil.testing.remote_server import RemoteServer
from tests.plugin.conftest import MAPS, call, make


def test_a_record_has_what_a_reviewer_asks_for(elsewhere: RemoteServer) -> None:
    make(elsewhere, "a", x="1")
    call(elsewhere, "GET", f"{MAPS}?limit=5&labelSelector=a%3Db")
    call(elsewhere, "GET", "/apis/apps/v1/namespaces/other/deployments/web/status")
    made, listed, status = elsewhere.requests
    assert (made.method, made.path, made.verb, made.code) == ("POST", MAPS, "create", 201)
    assert b'"x": "1"' in made.body and b'"uid"' in made.answer
    assert (made.request_bytes, made.response_bytes) == (len(made.body), len(made.answer))
    assert made.agent.startswith("Python-urllib/") and made.user == "admin"
    assert made.duration is not None and 0 < made.duration < 20
    assert abs(made.started - elsewhere.clock.now) < timedelta(seconds=20)
    assert listed.params == {"limit": "5", "labelSelector": "a=b"} and listed.verb == "list"
    wanted = ("apps", "v1", "deployments", "status", "other", "web", 404)
    assert (
        status.group,
        status.version,
        status.resource,
        status.subresource,
        status.namespace,
        status.name,
        status.code,
    ) == wanted
    assert str(listed).startswith(f"GET {MAPS}?limit=5&labelSelector=a=b -> 200 (admin, ")


def test_requests_are_selected_in_words(elsewhere: RemoteServer) -> None:
    make(elsewhere, "a")
    call(elsewhere, "GET", f"{MAPS}?limit=5")
    call(elsewhere, "GET", MAPS)
    call(elsewhere, "GET", "/api/v1/pods")
    call(elsewhere, "DELETE", f"{MAPS}/a")
    requests = elsewhere.requests
    assert len(requests) == 5 and len(requests.lists()) == 3 and len(requests.writes()) == 2
    assert len(requests.of(resource="configmaps", params={"limit": None})) == 3
    assert requests.count(resource="conf*", verb="list") == 2
    assert requests.count(verb=["create", "delete"]) == 2
    assert (
        requests.count(code="2*") == 5
        and requests.count(code=200) == 4
        and requests.count(params={"limit": 5}) == 1
        and requests.count(params={"limit": "5"}) == 1
    )
    assert requests.by_resource() == Counter({"configmaps": 4, "pods": 1})
    assert [r.verb for r in requests.last(2)] == ["list", "delete"]
    assert requests.of(verb="list").of(resource="pods")[0].path == "/api/v1/pods"
    assert requests[-1].verb == "delete" and len(requests[1:3]) == 2
    requests.assert_none(resource="secrets")
    requests.assert_count(2, resource="configmaps", verb="list")
    with pytest.raises(AssertionError, match="expected no requests resource='pods', found 1") as e:
        requests.assert_none(resource="pods")
    assert "GET /api/v1/pods -> 200" in str(e.value)
    with pytest.raises(TypeError, match="resource\\?"):
        requests.assert_none(resorce="secrets")
    for wrong in ({"resource": "secret"}, {"verb": "lists"}):
        with pytest.raises(ValueError, match=r"secrets\?|list\?"):
            requests.assert_none(**wrong)
    requests.clear()
    assert len(requests) == 0 and requests.dropped == 0


def test_a_watch_is_there_with_its_head_and_open_until_its_end(elsewhere: RemoteServer) -> None:
    with urllib.request.urlopen(f"{elsewhere.url}{MAPS}?watch=1", timeout=20) as watch:
        (record,) = elsewhere.requests.watches()
        assert (record.verb, record.code, record.duration) == ("watch", 200, None)
        (shown,) = elsewhere.watches
        assert (shown.resource, shown.namespace, shown.user, shown.events) == ("configmaps", "default", "admin", 0)
        made = make(elsewhere, "a")
        watch.readline()
        (shown,) = elsewhere.watches
        assert (shown.events, shown.resource_version) == (1, made["metadata"]["resourceVersion"])
        call(elsewhere, "GET", "/api/v1/pods")
    # The server sees the end of the connection a moment later.
    for _ in range(1000):
        if not elsewhere.watches:
            break
        call(elsewhere, "GET", "/version")
    assert elsewhere.watches == []
    assert elsewhere.requests.watches()[0].duration is not None


def test_there_is_no_secret_in_it(thread: RemoteServer) -> None:
    secret = {"metadata": {"name": "s", "annotations": {}}, "data": {"key": "aHVzaA=="}, "stringData": {"b": "hush"}}
    path = "/api/v1/namespaces/default/secrets"
    assert call(thread, "POST", path, secret)[0] == 201
    assert call(thread, "GET", path)[0] == 200
    patch = [{"op": "add", "path": "/data/more", "value": "aHVzaA=="}]
    assert call(thread, "PATCH", f"{path}/s", patch, {"Content-Type": "application/json-patch+json"})[0] == 200
    call(thread, "GET", path, headers={"Accept": "application/vnd.kubernetes.protobuf"})
    spec = {"spec": {"audiences": ["a"]}}
    assert call(thread, "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", spec)[0] == 201
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "hush"}}
    call(thread, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)
    call(thread, "GET", MAPS, headers=thread.headers)
    token = thread.headers["Authorization"].removeprefix("Bearer ")
    assert len(thread.requests) == 7
    for record in thread.requests:
        for text in (record.body, record.answer, str(record).encode()):
            assert b"aHVzaA" not in text and b"hush" not in text and b"eyJ" not in text and token.encode() not in text
    assert thread.requests[0].body and b"<hidden>" in thread.requests[0].answer


def test_bodies_are_kept_up_to_a_bound(thread: RemoteServer) -> None:
    make(thread, "big", a="x" * 200_000)
    call(thread, "GET", f"{MAPS}/big", headers={"Accept-Encoding": "gzip"})
    made, read = thread.requests
    assert len(made.body) == len(made.answer) == len(read.answer) == 64 * 1024
    assert made.request_bytes > 200_000 and made.response_bytes > 200_000
    assert read.answer.startswith(b'{"kind":"ConfigMap"')


def test_the_last_ten_thousand_are_kept(thread: RemoteServer) -> None:
    core = thread._core  # type: ignore[attr-defined]
    from hydrofoil.controls.record import Record

    for _ in range(10_005):
        core.controls.journal.add(Record("GET", "/x", {}))
    call(thread, "GET", MAPS)
    assert (len(thread.requests), thread.requests.dropped) == (10_000, 6)
    assert thread.requests[-1].path == MAPS


def test_a_fault_is_named_in_the_record(thread: RemoteServer) -> None:
    thread.faults.add("delay", seconds=0.001, verb="list")
    thread.faults.add("status", code=500, verb="list")
    call(thread, "GET", MAPS)
    assert thread.requests[0].fault == "delay verb=list seconds=0.001; status verb=list code=500"
    assert thread.requests.count(fault=None) == 0


def test_a_created_object_has_its_name(elsewhere: RemoteServer) -> None:
    call(elsewhere, "POST", MAPS, {"metadata": {"generateName": "some-"}})
    call(elsewhere, "POST", MAPS, {"metadata": {"name": "a"}})
    call(elsewhere, "POST", MAPS, {"metadata": {"name": "a"}})
    call(elsewhere, "POST", MAPS, {"metadata": {"name": "Wrong"}})
    assert elsewhere.requests[0].name.startswith("some-")
    assert elsewhere.requests.count(verb="create", name="a") == 2, "one of them was refused"
    assert elsewhere.requests.count(verb="create", name="Wrong", code=422) == 1


def test_bodies_are_selected_as_other_attributes(elsewhere: RemoteServer) -> None:
    make(elsewhere, "a", x="1")
    assert elsewhere.requests.count(body='*"x": "1"*', answer="*uid*") == 1 and elsewhere.requests.count(body="x") == 0


def test_requests_are_a_table_to_be_read(elsewhere: RemoteServer) -> None:
    assert elsewhere.requests.table() == "no requests"
    make(elsewhere, "a")
    elsewhere.faults.add("cut", verb="get", resource="configmaps")
    call(elsewhere, "GET", "/version", headers={"User-Agent": "operator"})
    with pytest.raises((OSError, http.client.HTTPException)):
        call(elsewhere, "GET", f"{MAPS}/a?pretty=1", headers={"User-Agent": "operator"})
    head, made, version, cut = elsewhere.requests.table().splitlines()
    assert re.sub(" +", " ", head) == "TIME VERB RESOURCE NAMESPACE NAME CODE MS USER AGENT QUERY FAULT"
    assert made.split()[1:6] == ["create", "configmaps", "default", "a", "201"]
    assert (version.split()[1:4], version.split()[-2:]) == (["get", "/version", "200"], ["admin", "operator"])
    assert version.index("200") == cut.index("cut") == head.index("CODE")
    assert re.search("operator +pretty=1  cut verb=get resource=configmaps$", cut)
    assert "FAULT" not in elsewhere.requests.of(verb="create").table()
