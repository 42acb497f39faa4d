"""The native calls of a request, each with a check of its answer."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from tests.shards import CLOCK, Kept

from hydrofoil import engine
from hydrofoil.apis.catalog import Catalog

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web", "tier": "front"}},
    "spec": {
        "nodeName": "node-1",
        "containers": [
            {
                "name": f"c{i}",
                "image": "registry.example/web:1.2.3",
                "env": [{"name": f"KEY_{k}", "value": f"value-{k}"} for k in range(8)],
                "ports": [{"name": "http", "containerPort": 8080}],
                "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m"}},
            }
            for i in range(2)
        ],
    },
}
BODY = orjson.dumps(POD)


@pytest.fixture(scope="module")
def pods() -> engine.ResourceType:
    found = Catalog().find("", "v1", "pods")
    assert found
    return found.native


def made(pods: engine.ResourceType, name: str) -> engine.Draft:
    draft, _ = pods.decode(BODY, "json")
    begun(draft, name)
    return draft


def begun(draft: engine.Draft, name: str) -> None:
    draft.read_new(CLOCK, "default", "").there()
    draft.fill_metadata(CLOCK, name, name)
    draft.prepare(CLOCK, validates=False).there()


def test_decode(benchmark: Any, pods: engine.ResourceType) -> None:
    draft, strict = benchmark(pods.decode, BODY, "json")
    assert draft.metadata().name == "p"
    assert strict == []


def test_defaults_and_preparation(benchmark: Any, pods: engine.ResourceType) -> None:
    draft, _ = pods.decode(BODY, "json")
    benchmark(begun, draft, "p")
    assert draft.get(["spec", "restartPolicy"]) == b'"Always"'


def test_validate(benchmark: Any, pods: engine.ResourceType) -> None:
    assert benchmark(made(pods, "p").validate) == []


@pytest.mark.parametrize("form", ["json", "protobuf", "json:metadata:v1", "json:table:v1:Metadata"])
def test_body(benchmark: Any, pods: engine.ResourceType, form: str) -> None:
    stored = made(pods, "p").preview(7)
    assert len(benchmark(stored.body, form)) > 100


def test_get(benchmark: Any, pods: engine.ResourceType) -> None:
    shard = Kept()
    shard.create(made(pods, "p"))
    stored = benchmark(shard.shard.get, pods, "default", "p")
    assert stored.name == "p"


def test_list_of_1000(benchmark: Any, pods: engine.ResourceType) -> None:
    shard = Kept()
    for i in range(1000):
        shard.create(made(pods, f"p{i:04}"))
    everything = engine.Selector(pods, "", "", "")

    def whole() -> int:
        cursor = shard.shard.list(pods, everything, "json")
        total = 0
        while (piece := cursor.chunk(256 * 1024)) is not None:
            total += sum(part.count(b'"nodeName"') for part in piece)
        return total

    assert benchmark(whole) == 1000
