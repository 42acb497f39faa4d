"""The work of a list on the loop, and that on a thread."""

from __future__ import annotations

import orjson

from hydrofoil import engine
from hydrofoil.apis.catalog import Catalog
from tests.shards import Kept

NATIVE = Catalog().groups[""]["v1"]["configmaps"].native


def shard(objects: int, size: int) -> engine.Shard:
    """So many objects of a size, of which every hundredth is marked."""
    found = Kept()
    for i in range(objects):
        labels = {"marked": "yes"} if i % 100 == 0 else {}
        body = {"metadata": {"name": f"c{i:05}", "namespace": "d", "labels": labels}, "data": {"k": "x" * size}}
        found.create(NATIVE.decode(orjson.dumps(body), "json")[0])
    return found.shard


def short(found: engine.Shard, labels: str, form: str, limit: int = 0) -> bool:
    """Whether a list costs little."""
    return found.list(NATIVE, engine.Selector(NATIVE, "", labels, ""), form, limit).short()


def test_a_few_small_objects_are_encoded_at_once() -> None:
    small = shard(300, 10)
    for form in ("protobuf", "cbor", "json:table:v1:Object", "protobuf:metadata:v1"):
        assert short(small, "marked=yes", form)
        assert short(small, "marked in (yes, no)", form)
        assert short(small, "", form, limit=3)
        assert not short(small, "", form)


def test_much_to_encode_or_to_look_at_is_left_to_a_thread() -> None:
    assert not short(shard(300, 10_000), "marked=yes", "protobuf")
    assert not short(shard(2_000, 10), "marked=yes", "protobuf")


def test_what_is_kept_costs_nothing() -> None:
    large = shard(100, 10_000)
    assert not short(large, "", "protobuf")
    cursor = large.list(NATIVE, engine.Selector(NATIVE, "", "", ""), "protobuf")
    cursor.ahead()
    assert short(large, "", "protobuf")
