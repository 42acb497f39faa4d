"""What a rehearsal says of an apply is what happens when the same objects are applied to a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvloop
from blockbuster import BlockBuster
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hydrofoil import Server
from hydrofoil.cli.rehearse.apply import ApplyRehearsalOptions, rehearse
from hydrofoil.testing.remote_server import RemoteServer
from tests.property.rehearsals import FLAGS, Object, call, documents, keys, take_dump

APPLY = "application/apply-patch+yaml"
QUOTA = {"metadata": {"name": "few"}, "spec": {"hard": {"count/configmaps": "4"}}}
VALUES = st.sampled_from(("1", "2"))
DATA = st.dictionaries(st.sampled_from(("a", "b", "c")), VALUES, max_size=3)
NAMESPACES = st.sampled_from(("default", "team", "new", "missing"))
NAMES = st.sampled_from(("x", "y", "z", "Wrong_Name"))


def config_map(name: str, namespace: str, data: Object) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


MAP = st.builds(config_map, NAMES, NAMESPACES, DATA)
SPACE: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
UNKNOWN: Object = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}}
DEPLOYMENT = st.builds(
    lambda replicas, image: {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "team"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": image}]},
            },
        },
    },
    st.integers(-1, 2),
    st.sampled_from(("i:1", "i:2")),
)
LIMIT: Object = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "new", "namespace": "default"},
    "spec": {"hard": {"count/configmaps": "2"}},
}
OBJECTS = st.lists(
    st.one_of(MAP, MAP, DEPLOYMENT, st.just(SPACE), st.just(UNKNOWN), st.just(LIMIT)), min_size=1, max_size=8
)
PATHS = {
    "ConfigMap": "/api/v1/namespaces/{}/configmaps/{}",
    "Namespace": "/api/v1/namespaces/{1}",
    "ResourceQuota": "/api/v1/namespaces/{}/resourcequotas/{}",
}


def path_of(content: Object) -> str:
    metadata = content["metadata"]
    pattern = {**PATHS, "Deployment": "/apis/apps/v1/namespaces/{}/deployments/{}"}.get(content["kind"], "/missing")
    return pattern.format(metadata.get("namespace", ""), metadata["name"])


@pytest.fixture(scope="module")
def server() -> Iterator[RemoteServer]:
    """Yield one server for all cases, with a quota in a namespace."""
    with Server.in_thread(controllers="serviceaccount,root-ca-cert-publisher,resourcequota") as server:
        server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        server.apply({"apiVersion": "v1", "kind": "ResourceQuota", **QUOTA}, namespace="team")
        yield server


@pytest.fixture(autouse=True)
def unguarded(no_blocking: BlockBuster) -> None:
    """Let the test itself wait for another thread."""
    no_blocking.deactivate()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(before=[SPACE], new=[LIMIT, *(config_map(name, "default", {}) for name in "xyz")], force=False)
@given(before=OBJECTS, new=OBJECTS, force=st.booleans())
def test_a_rehearsal_agrees_with_what_happens(
    server: RemoteServer, tmp_path: Path, before: list[Object], new: list[Object], force: bool
) -> None:
    state = server.snapshot()
    try:
        for content in before:
            call(server, "PATCH", f"{path_of(content)}?fieldManager=helm", content, APPLY)
            settle(server, content)
        contents = take_dump(server, tmp_path)
        options = ApplyRehearsalOptions(field_manager="flux", force=force)
        report = uvloop.run(rehearse(contents, documents(*new), options, FLAGS))
        compare(server, new, force=force, found=report.content)
        assert report.code == (1 if report.content["refused"] or report.content["conflicts"] else 0)
    finally:
        server.restore(state)


def settle(server: RemoteServer, content: Object) -> None:
    """Wait for the controllers where what follows depends on them: the account of a namespace, the count of a quota."""
    if content["kind"] in ("Namespace", "ResourceQuota"):
        server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})


def compare(server: RemoteServer, new: list[Object], *, force: bool, found: dict[str, Any]) -> None:
    """Apply the same objects in the same order, and compare what happens."""
    wanted: dict[str, list[Any]] = {name: [] for name in ("created", "changed", "unchanged", "refused", "conflicts")}
    for content in sorted(new, key=lambda one: one["kind"] != "Namespace"):
        path = path_of(content)
        was = call(server, "GET", path)
        query = f"fieldManager=flux{'&force=true' if force else ''}"
        code, answer = call(server, "PATCH", f"{path}?{query}", content, APPLY)
        settle(server, content)
        name = content["metadata"]["name"]
        if code == 409:
            causes = [(cause["field"], cause["message"].split('"')[1]) for cause in answer["details"]["causes"]]
            wanted["conflicts"].append((name, sorted(causes)))
        elif code >= 400:
            wanted["refused"].append((name, answer["message"] if content["kind"] != "Boat" else ""))
        elif code == 201:
            wanted["created"].append((name, None))
        else:
            is_same = content_of(was[1]) == content_of(answer)
            wanted["unchanged" if is_same else "changed"].append((name, None))
    for outcome, entries in wanted.items():
        assert len(found[outcome]) == len(entries), (outcome, found, entries)
        for entry, (name, detail) in zip(found[outcome], entries, strict=True):
            assert entry["name"] == name
            if outcome == "conflicts":
                assert sorted((one["field"], one["manager"]) for one in entry["conflicts"]) == detail
            elif outcome == "refused" and detail:
                assert entry["reason"] == detail
    for entry in found["changed"]:
        assert entry["diff"]
    assert keys(found["taken"]) <= keys(found["changed"]) | keys(found["unchanged"])


def content_of(content: Object) -> Object:
    return {name: value for name, value in content.items() if name in ("data", "spec", "metadata")} | {
        "metadata": {name: value for name, value in content["metadata"].items() if name in ("labels", "annotations")}
    }
