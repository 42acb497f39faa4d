"""The official Python client, unchanged."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kubernetes import client, config, watch

from tests.conftest import Process


@pytest.fixture(params=["process", "gateway"])
def core(request: pytest.FixtureRequest) -> Iterator[client.CoreV1Api]:
    """A client of a server, and of a gateway."""
    found: Process = request.getfixturevalue(request.param)
    config.load_kube_config(str(found[2]))
    with client.ApiClient() as api:
        yield client.CoreV1Api(api)


def test_lists_pages_watches_and_resumes(core: client.CoreV1Api) -> None:
    """GR-11, PG-03, WA-08."""
    for i in range(5):
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=f"c{i}"), data={"i": str(i)})
        core.create_namespaced_config_map("default", body)
    first = core.list_namespaced_config_map("default", limit=2)
    second = core.list_namespaced_config_map("default", limit=10, _continue=first.metadata._continue)
    names = [c.metadata.name for c in first.items + second.items]
    assert names == [f"c{i}" for i in range(5)]
    version = first.metadata.resource_version
    core.delete_namespaced_config_map("c0", "default")
    core.patch_namespaced_config_map(
        "c1", "default", {"data": {"i": "x"}}, _content_type="application/merge-patch+json"
    )
    seen = []
    for _ in range(2):
        stream = watch.Watch()
        for event in stream.stream(
            core.list_namespaced_config_map, "default", resource_version=version, timeout_seconds=5
        ):
            seen.append((event["type"], event["object"].metadata.name))
            version = event["object"].metadata.resource_version
            stream.stop()
    assert seen == [("DELETED", "c0"), ("MODIFIED", "c1")]
