"""Whatever is accepted can be listed, watched, patched, restored and deleted, in every encoding that it came in."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hydrofoil import Server
from hydrofoil.testing.remote_server import RemoteServer

THINGS = "/apis/e.com/v1/things"
REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"
NUMBERS = ("0", "-0.0", "1.0", "1e308", "1e309", "-1e400", "1e-400", "0.0000001", "18446744073709551616", "1e21")
YAML = (
    "*x",
    ".inf",
    "-.inf",
    ".nan",
    "1e309",
    "!!float 3",
    "!!int '3'",
    "0x1F",
    "~",
    "{~: 1}",
    "{.inf: 1}",
    "[&a 1, *a]",
)
leaves = st.sampled_from(NUMBERS) | st.sampled_from(("null", "true", '"a"', "{}", "[]"))
texts = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda items: f"[{','.join(items)}]")
        | st.lists(inner, max_size=2).map(
            lambda items: "{" + ",".join(f'"m{i}":{item}' for i, item in enumerate(items)) + "}"
        )
    ),
    max_leaves=5,
)
WAYS = ("json", "yaml", "merge-patch+json", "json-patch+json", "apply-patch+yaml")


@pytest.fixture(scope="module")
def server() -> Iterator[RemoteServer]:
    """Yield one server that serves an open kind."""
    with Server.in_thread() as server:
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.e.com"},
            "spec": {"group": "e.com", "scope": "Cluster", "names": names, "versions": [version]},
        }
        server.apply(definition)
        yield server


@pytest.fixture(autouse=True)
def unguarded(no_blocking: BlockBuster) -> None:
    """Let the test itself wait for another thread."""
    no_blocking.deactivate()


def call(
    server: RemoteServer, method: str, path: str, body: str | None = None, kind: str = "json"
) -> tuple[int, bytes]:
    """Return status and body of an answer."""
    headers = {"Content-Type": f"application/{kind}"}
    request = urllib.request.Request(server.url + path, None if body is None else body.encode(), headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as e:
        with e:
            return e.code, e.read()


def first_event(server: RemoteServer, path: str) -> bytes:
    """Return the first event of a watch from the beginning."""
    with urllib.request.urlopen(f"{server.url}{path}?watch=1&resourceVersion=0", timeout=20) as answer:
        line: bytes = answer.readline()
        return line


def refuse(text: str) -> None:
    """Fail for a constant that JSON does not have."""
    raise AssertionError(text)


def written(server: RemoteServer, path: str, head: str, member: str, way: str, value: str) -> int:
    """Write a value in a way. Return the status."""
    whole = f'{{{head},"metadata":{{"name":"m"}},"{member}":{value}}}'
    if way in ("json", "yaml"):
        return call(server, "POST", path, whole, way)[0]
    if way == "apply-patch+yaml":
        return call(server, "PATCH", f"{path}/m?fieldManager=x", whole, way)[0]
    call(server, "POST", path, f'{{{head},"metadata":{{"name":"m"}}}}')
    patch = f'{{"{member}":{value}}}'
    if way == "json-patch+json":
        patch = f'[{{"op":"add","path":"/{member}","value":{value}}}]'
    return call(server, "PATCH", f"{path}/m", patch, way)[0]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(value="1e309", way="json", built_in=False)
@example(value=".inf", way="yaml", built_in=False)
@example(value="1e309", way="merge-patch+json", built_in=True)
@given(value=texts | st.sampled_from(YAML), way=st.sampled_from(WAYS), built_in=st.booleans())
def test_what_is_accepted_lasts(server: RemoteServer, value: str, way: str, built_in: bool) -> None:
    """No answer is a fault, and every later answer is JSON."""
    path, member = (REVISIONS, "data") if built_in else (THINGS, "spec")
    head = '"apiVersion":"apps/v1","kind":"ControllerRevision","revision":1'
    head = head if built_in else '"apiVersion":"e.com/v1","kind":"Thing"'
    status = written(server, path, head, member, way, value)
    assert status < 500
    saved = server.snapshot()
    status, found = call(server, "GET", f"{path}/m")
    if status == 200:
        listed = call(server, "GET", path)[1]
        json.loads(found, parse_constant=refuse)
        assert len(json.loads(listed, parse_constant=refuse)["items"]) == 1
        event = json.loads(first_event(server, path), parse_constant=refuse)
        assert event["object"] == json.loads(found)
        labelled = call(server, "PATCH", f"{path}/m", '{"metadata":{"labels":{"a":"b"}}}', "merge-patch+json")
        assert labelled[0] == 200, labelled
        server.restore(saved)
        restored = call(server, "GET", f"{path}/m")
        assert json.loads(restored[1])["metadata"]["uid"] == json.loads(found)["metadata"]["uid"]
        assert call(server, "DELETE", f"{path}/m")[0] == 200
    assert json.loads(call(server, "GET", path)[1])["items"] == []
