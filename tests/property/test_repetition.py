"""Two runs with one seed and one clock: the same requests in the same order get the same bodies."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest
from blockbuster import BlockBuster
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrofoil import Server

Step = tuple[str, str, Any]
DEFAULT = "/api/v1/namespaces/default"
NAMES = ("a", "b", "team")
PORT = {"ports": [{"port": 80}]}
POD = {"containers": [{"name": "c", "image": "i"}]}
WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def steps(name: str) -> list[Step]:
    """Return some requests about a name."""
    return [
        ("POST", "/api/v1/namespaces", {"metadata": {"name": name}}),
        ("DELETE", f"/api/v1/namespaces/{name}", None),
        ("GET", f"/api/v1/namespaces/{name}/serviceaccounts", None),
        ("POST", f"{DEFAULT}/configmaps", {"metadata": {"name": name}}),
        ("PUT", f"{DEFAULT}/configmaps/{name}", {"metadata": {"name": name}, "data": {"a": "b"}}),
        ("DELETE", f"{DEFAULT}/configmaps/{name}", None),
        ("POST", f"{DEFAULT}/services", {"metadata": {"name": name}, "spec": {"type": "NodePort", **PORT}}),
        ("POST", f"{DEFAULT}/services", {"metadata": {"generateName": f"{name}-"}, "spec": PORT}),
        ("DELETE", f"{DEFAULT}/services/{name}", None),
        ("POST", f"{DEFAULT}/pods", {"metadata": {"generateName": f"{name}-"}, "spec": POD}),
        ("POST", DEFINITIONS, WIDGETS),
        ("DELETE", f"{DEFINITIONS}/widgets.example.com", None),
        (
            "POST",
            "/apis/example.com/v1/namespaces/default/widgets",
            {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}},
        ),
        ("GET", f"{DEFAULT}/configmaps?limit=1", None),
        ("GET", "/api/v1/namespaces", None),
        ("GET", DEFINITIONS, None),
    ]


STEPS = st.lists(st.sampled_from([step for name in NAMES for step in steps(name)]), min_size=1, max_size=25)


@pytest.fixture(autouse=True)
def unguarded(no_blocking: BlockBuster) -> None:
    """Let the test itself wait for another thread."""
    no_blocking.deactivate()


def answers(given: list[Step]) -> list[tuple[int, bytes]]:
    """Return the answers of a new server."""
    found = []
    with Server.in_thread(seed=7, clock="2026-01-01T00:00:00Z") as server:
        connection = http.client.HTTPConnection(server.host, server.port, timeout=20)
        for method, path, body in given:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": "application/json"})
            with connection.getresponse() as answer:
                found.append((answer.status, answer.read()))
        connection.close()
    return found


@given(given=STEPS)
@settings(max_examples=15, deadline=None)
def test_two_runs_are_byte_identical(given: list[Step]) -> None:
    assert answers(given) == answers(given)


def test_controllers_act_between_requests_alike() -> None:
    given = [
        *(step for name in NAMES for step in steps(name)[:4]),
        ("GET", "/api/v1/serviceaccounts", None),
        ("GET", f"{DEFAULT}/configmaps", None),
    ]
    first = answers(given)
    assert all(answers(given) == first for _ in range(8))
