"""Servers in all three forms, and requests to them."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from blockbuster import BlockBuster

from hydrofoil import Server
from hydrofoil.testing.remote_server import RemoteServer

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(autouse=True)
def unguarded(no_blocking: BlockBuster) -> None:
    """Let the tests themselves read files and wait for other threads."""
    no_blocking.deactivate()


@pytest.fixture(params=["thread", "process"])
def elsewhere(request: pytest.FixtureRequest) -> Iterator[RemoteServer]:
    """Yield a server beside the test."""
    with Server.in_thread() if request.param == "thread" else Server.in_process() as server:
        yield server


@pytest.fixture
def thread() -> Iterator[RemoteServer]:
    """Yield a server in a thread."""
    with Server.in_thread() as server:
        yield server


def call(
    server: Any, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, Any]]:
    """Return status and body of a request."""
    data = None if body is None else json.dumps(body).encode()
    given = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(server.url + path, data, given, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, shown(answer.read())
    except urllib.error.HTTPError as e:
        with e:
            return e.code, shown(e.read())


def shown(body: bytes) -> dict[str, Any]:
    """Return a body of JSON, or another one as it is."""
    found: dict[str, Any] = json.loads(body) if body.startswith(b"{") else {"body": body}
    return found


def make(server: Any, name: str, **data: str) -> dict[str, Any]:
    """Make a config map."""
    status, made = call(server, "POST", MAPS, {"metadata": {"name": name}, "data": data})
    assert status == 201
    return made


def names(server: Any) -> list[str]:
    """Return the names of the config maps, without that of the authority."""
    _, found = call(server, "GET", MAPS)
    return [item["metadata"]["name"] for item in found["items"]]


def widgets() -> dict[str, Any]:
    """Return a definition."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [version],
        },
    }
