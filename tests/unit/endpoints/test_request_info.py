"""URL forms."""

from __future__ import annotations

import pytest

from hydrofoil.endpoints.request_info import RequestInfo, parse


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/pods", ("", "v1", "pods", "", "", "", False)),
        ("/api/v1/namespaces/n/pods/p/status", ("", "v1", "pods", "status", "n", "p", False)),
        ("/api/v1/namespaces/n", ("", "v1", "namespaces", "", "", "n", False)),
        ("/api/v1/namespaces/n/finalize", ("", "v1", "namespaces", "finalize", "", "n", False)),
        ("/api/v1/watch/namespaces/n/pods/p", ("", "v1", "pods", "", "n", "p", True)),
        ("/apis/apps/v1/deployments/", ("apps", "v1", "deployments", "", "", "", False)),
        ("/apis/g/v1/namespaces/n/roles/a b", ("g", "v1", "roles", "", "n", "a b", False)),
    ],
)
def test_parts(path: str, expected: tuple[str, str, str, str, str, str, bool]) -> None:
    """URI-01 to URI-10."""
    group, version, resource, subresource, namespace, name, watch = expected
    assert parse(path) == RequestInfo(group, version, resource, subresource, namespace, name, watch, ())


@pytest.mark.parametrize("path", ["/", "/api", "/api/v1", "/apis/apps", "/apis/apps/v1", "/healthz", "/apis//v1/pods"])
def test_no_resource(path: str) -> None:
    assert parse(path) is None
