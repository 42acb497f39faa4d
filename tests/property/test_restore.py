"""After a restore a server is as it was, whatever was written since, and open watches see no difference."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hydrofoil import Server
from hydrofoil.testing.remote_server import RemoteServer

PATH = "/api/v1/namespaces/default/configmaps"
NAMES = ("a", "b", "c", "d")
STEPS = st.lists(st.tuples(st.sampled_from(("put", "delete")), st.sampled_from(NAMES), st.integers(0, 2)), max_size=12)


@pytest.fixture(scope="module")
def server() -> Iterator[RemoteServer]:
    """Yield one server for all cases."""
    with Server.in_thread() as server:
        yield server


@pytest.fixture(autouse=True)
def unguarded(no_blocking: BlockBuster) -> None:
    """Let the test itself wait for another thread."""
    no_blocking.deactivate()


def call(server: RemoteServer, method: str, path: str, body: Any = None) -> Any:
    """Return the body of an answer; None for a refusal."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as e:
        with e:
            return None


def written(server: RemoteServer, steps: list[tuple[str, str, int]]) -> None:
    """Write as the steps describe."""
    for verb, name, number in steps:
        if verb == "delete":
            call(server, "DELETE", f"{PATH}/{name}")
            continue
        body = {"metadata": {"name": name, "labels": {"n": str(number)}}, "data": {"n": str(number)}}
        if call(server, "PUT", f"{PATH}/{name}", body) is None:
            call(server, "POST", PATH, body)


def listed(server: RemoteServer, query: str = "") -> list[Any]:
    """Return the objects without their versions."""
    items = call(server, "GET", f"{PATH}?{query}")["items"]
    for item in items:
        del item["metadata"]["resourceVersion"]
    return list(items)


GROUP = "example.com"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PLURALS = ("widgets", "gadgets")
CHANGES = st.lists(
    st.tuples(st.sampled_from(("define", "undefine", "create")), st.sampled_from(PLURALS), st.integers(0, 2)),
    max_size=6,
)
DOCUMENTS = (
    "/apis",
    f"/apis/{GROUP}",
    f"/apis/{GROUP}/v1",
    f"/apis/{GROUP}/v2",
    "/openapi/v2",
    f"/openapi/v3/apis/{GROUP}/v1",
)


def definition(plural: str, number: int) -> dict[str, Any]:
    """Return a definition: the number decides on its schema, its versions and its columns."""
    kind = plural[:-1].capitalize()
    schema = {"type": "object", "properties": {f"field{number}": {"type": "string"}}}
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}}
        for name in ("v1", "v2")[: 1 + number % 2]
    ]
    names = {"plural": plural, "singular": plural[:-1], "kind": kind, "listKind": f"{kind}List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": versions},
    }


def changed(server: RemoteServer, changes: list[tuple[str, str, int]]) -> None:
    """Change definitions and their objects."""
    for verb, plural, number in changes:
        if verb == "define":
            server.apply(definition(plural, number))
        elif verb == "undefine":
            call(server, "DELETE", f"{DEFINITIONS}/{plural}.{GROUP}")
        else:
            body = {"kind": plural[:-1].capitalize(), "apiVersion": f"{GROUP}/v1", "metadata": {"name": f"o{number}"}}
            call(server, "POST", f"/apis/{GROUP}/v1/namespaces/default/{plural}", body)


def described(server: RemoteServer) -> list[Any]:
    """Return discovery, OpenAPI and the custom objects."""
    paths = sorted(call(server, "GET", "/openapi/v3")["paths"])
    objects = [call(server, "GET", f"/apis/{GROUP}/v1/{plural}") for plural in PLURALS]
    names = [found and sorted(o["metadata"]["uid"] for o in found["items"]) for found in objects]
    return [paths, names, *(call(server, "GET", path) for path in DOCUMENTS)]


@given(before=CHANGES, since=CHANGES)
@example(before=[("define", "gadgets", 0), ("define", "widgets", 0)], since=[("define", "gadgets", 1)])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_discovery_and_openapi_come_back(server: RemoteServer, before: list[Any], since: list[Any]) -> None:
    server.reset()
    changed(server, before)
    state, was = server.snapshot(), described(server)
    changed(server, since)
    server.restore(state)
    for found, expected in zip(described(server), was, strict=True):
        assert found == expected


@given(before=STEPS, since=STEPS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_restore_is_exact(server: RemoteServer, before: list[Any], since: list[Any]) -> None:
    server.reset()
    written(server, before)
    state = server.snapshot()
    queries = ["", *(f"labelSelector=n%3D{n}" for n in range(3))]
    was = [listed(server, query) for query in queries]
    with urllib.request.urlopen(f"{server.url}{PATH}?watch=1", timeout=20) as watch:
        written(server, since)
        server.restore(state)
        assert [listed(server, query) for query in queries] == was
        call(server, "POST", PATH, {"metadata": {"name": "last"}})
        informed: dict[str, Any] = {}
        while "last" not in informed:
            event = json.loads(watch.readline())
            name = event["object"]["metadata"]["name"]
            if event["type"] == "DELETED":
                del informed[name]
            else:
                informed[name] = {key: event["object"].get(key) for key in ("metadata", "data")}
    found = call(server, "GET", PATH)["items"]
    present = [{key: item.get(key) for key in ("metadata", "data")} for item in found]
    assert [informed[name] for name in sorted(informed)] == present


@pytest.fixture(scope="module")
def others() -> Iterator[tuple[RemoteServer, RemoteServer]]:
    """Yield two more servers, which exchange saved states over HTTP."""
    with Server.in_thread(test_controls=True) as one, Server.in_thread(test_controls=True) as two:
        yield one, two


def objects(server: RemoteServer) -> dict[str, Any]:
    """Return all definitions, custom objects and config maps without their versions, by path."""
    found: dict[str, Any] = {}
    paths = [DEFINITIONS, "/api/v1/configmaps", *(f"/apis/{GROUP}/v1/{plural}" for plural in PLURALS)]
    for path in paths:
        for item in (call(server, "GET", path) or {"items": []})["items"]:
            del item["metadata"]["resourceVersion"]
            found[f"{path}/{item['metadata']['name']}"] = item
    return found


CONTROLS = "/hydrofoil/v1/snapshots"


def moved(source: RemoteServer, target: RemoteServer) -> None:
    """Save the state of one server and restore it in another."""
    taken = call(source, "POST", CONTROLS)
    with urllib.request.urlopen(f"{source.url}{CONTROLS}/{taken['id']}", timeout=20) as answer:
        saved = answer.read()
    request = urllib.request.Request(f"{target.url}{CONTROLS}/moved", saved, method="PUT")
    with urllib.request.urlopen(request, timeout=20):
        pass
    assert call(target, "POST", f"{CONTROLS}/moved/restore") is not None


@given(there=CHANGES, here=CHANGES, after=CHANGES)
@example(there=[("define", "widgets", 0), ("create", "widgets", 1)], here=[], after=[("create", "widgets", 2)])
@example(
    there=[("define", "widgets", 0), ("create", "widgets", 1)],
    here=[("define", "widgets", 1), ("create", "widgets", 2)],
    after=[("undefine", "widgets", 0)],
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_state_is_the_same_in_another_server(
    others: tuple[RemoteServer, RemoteServer], there: list[Any], here: list[Any], after: list[Any]
) -> None:
    """Custom objects come with their definitions, over definitions that differ or are gone; a server that has a state
    continues from it."""
    one, two = others
    one.reset()
    two.reset()
    changed(one, there)
    was = objects(one)
    changed(two, here)
    moved(one, two)
    assert objects(two) == was
    changed(two, after)
    was = objects(two)
    moved(two, one)
    assert objects(one) == was
