"""The attributes of a method and a URL."""

from __future__ import annotations

import pytest

from hydrofoil.request import RequestInfo, parse


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/pods", ("list", "", "v1", "pods", "", "", "", False)),
        ("/api/v1/namespaces/n/pods/p/status", ("get", "", "v1", "pods", "status", "n", "p", False)),
        ("/api/v1/namespaces/n", ("get", "", "v1", "namespaces", "", "", "n", False)),
        ("/api/v1/namespaces/n/finalize", ("get", "", "v1", "namespaces", "finalize", "", "n", False)),
        ("/api/v1/watch/namespaces/n/pods/p", ("watch", "", "v1", "pods", "", "n", "p", True)),
        ("/apis/apps/v1/deployments/", ("list", "apps", "v1", "deployments", "", "", "", False)),
        ("/apis/g/v1/namespaces/n/roles/a%20b", ("get", "g", "v1", "roles", "", "n", "a b", False)),
    ],
)
def test_parts(path: str, expected: tuple[str, str, str, str, str, str, str, bool]) -> None:
    """URI-01 to URI-10."""
    verb, group, version, resource, subresource, namespace, name, watch = expected
    found = parse("GET", path)
    assert found == RequestInfo(
        found.path, "", verb, True, group, version, resource, subresource, namespace, name, watch, watch, ()
    )


@pytest.mark.parametrize(
    ("method", "target", "verb"),
    [
        ("GET", "/api/v1/pods?watch", "watch"),
        ("GET", "/api/v1/pods?watch=1&limit=2", "watch"),
        ("GET", "/api/v1/pods?watch=false", "list"),
        ("GET", "/api/v1/pods?watch=0", "list"),
        ("GET", "/api/v1/pods?labelSelector=watch", "list"),
        ("GET", "/api/v1/namespaces/n/pods/p?watch=1", "get"),
        ("HEAD", "/api/v1/namespaces/n/pods/p", "get"),
        ("POST", "/api/v1/namespaces/n/pods", "create"),
        ("POST", "/api/v1/namespaces/n/pods/p/eviction", "create"),
        ("PUT", "/api/v1/namespaces/n/pods/p", "update"),
        ("PATCH", "/api/v1/namespaces/n/pods/p", "patch"),
        ("DELETE", "/api/v1/namespaces/n/pods/p", "delete"),
        ("DELETE", "/api/v1/namespaces/n/pods", "deletecollection"),
        ("BREW", "/api/v1/namespaces/n/pods", ""),
        ("GET", "/livez", "get"),
        ("POST", "/apis/apps/v1", "post"),
    ],
)
def test_verbs(method: str, target: str, verb: str) -> None:
    """As in authorization rules; the catalog is not consulted."""
    assert parse(method, target).verb == verb


@pytest.mark.parametrize("path", ["/", "/api", "/api/v1", "/apis/apps", "/apis/apps/v1", "/healthz", "/apis//v1/pods"])
def test_no_resource(path: str) -> None:
    assert not parse("GET", path).resourceful


@pytest.mark.parametrize(
    ("target", "lasting"),
    [
        ("/api/v1/pods?watch=1", True),
        ("/api/v1/namespaces/n/pods/p/log", True),
        ("/api/v1/namespaces/n/pods/p/status", False),
        ("/livez", False),
    ],
)
def test_what_lasts(target: str, lasting: bool) -> None:
    assert parse("GET", target).lasting == lasting
