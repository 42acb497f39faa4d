"""Writes that wait for nobody come to the same as all others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
import pytest
from msgspec import structs

from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.pace.sizes import LARGE
from hydrofoil.registry.replicas import Replicas
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Outdated
from hydrofoil.storage.sizes import Bound
from tests.unit.parts import draft, opened, resource

PODS, MAPS = resource("pods"), resource("configmaps")
SPEC = {"containers": [{"name": "main", "image": "x:1"}]}
REPORT = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}],
    "podIP": "10.0.0.1",
}
PRESENT = {"conditions": [{"type": "Ready", "status": "False"}, {"type": "DisruptionTarget", "status": "True"}]}


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    async with opened() as found:
        found.clock.freeze()
        yield found


async def make(registry: Registry, name: str, **metadata: Any) -> Stored:
    body = {"metadata": {"name": name, "namespace": "a", **metadata}, "spec": SPEC}
    await registry.create(PODS, "a", draft(PODS, body), Write(manager="m"))

    def apply(old: Stored) -> Draft:
        made = old.thaw()
        made.set(["status"], orjson.dumps(PRESENT))
        return made

    return await registry.update(PODS, "a", name, apply, status_write())


def report(old: Stored) -> Draft:
    made = old.thaw()
    made.merge_status(orjson.dumps(REPORT))
    return made


def status_write(**members: Any) -> Write:
    return Write(manager="kubelet", subresource="status", patch=True, **members)


def without_version(stored: Stored) -> Any:
    found = orjson.loads(stored.json)
    del found["metadata"]["resourceVersion"], found["metadata"]["uid"], found["metadata"]["name"]
    return found


async def test_an_update_is_the_same_as_one_that_may_wait(registry: Registry) -> None:
    await make(registry, "one")
    await make(registry, "two")
    one = registry.update_at_once(PODS, "a", "one", report, status_write())
    assert one is not None
    two = await registry.update(PODS, "a", "two", report, status_write())
    assert without_version(one) == without_version(two)
    assert registry.get(PODS, "a", "one").revision == one.revision
    status = orjson.loads(one.json)["status"]
    assert [c["type"] for c in status["conditions"]] == ["Ready", "DisruptionTarget", "Initialized"]
    assert status["conditions"][0]["status"] == "True" and status["phase"] == "Running"


async def test_an_update_without_a_change_writes_nothing(registry: Registry) -> None:
    old = await make(registry, "one")
    same = registry.update_at_once(PODS, "a", "one", Stored.thaw, status_write())
    assert same is not None and same.revision == old.revision


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda draft: draft.set(["status", "podIP"], b'"no address"'), 422),
        (lambda draft: draft.set(["metadata", "resourceVersion"], b'"1"'), 409),
    ],
)
async def test_a_refusal_is_the_same(registry: Registry, change: Callable[[Draft], None], code: int) -> None:
    await make(registry, "one")

    def apply(old: Stored) -> Draft:
        made = old.thaw()
        change(made)
        return made

    errors = []
    for write in (registry.update_at_once, registry.update):
        with pytest.raises(ApiError) as caught:
            done: Any = write(PODS, "a", "one", apply, status_write())
            await done
        errors.append((caught.value.code, caught.value.message))
    assert errors[0] == errors[1] and errors[0][0] == code


async def test_what_may_wait_is_left_to_the_other_way(registry: Registry) -> None:
    await make(registry, "one")
    await make(registry, "gone", finalizers=["a.b/c"])

    def tried(write: Write, name: str = "one", change: Callable[[Stored], Draft] = report) -> Stored | None:
        return registry.update_at_once(PODS, "a", name, change, write)

    assert tried(status_write(sent=1)) is None
    assert tried(status_write(dry_run=True)) is None
    registry.storage.collection(PODS.storage, PODS.native)._bound = Bound(100)
    assert tried(status_write()) is None
    custom = structs.replace(PODS, custom=True)
    assert registry.update_at_once(custom, "a", "one", report, status_write()) is None
    with pytest.raises(Outdated):
        tried(status_write(epoch=registry.storage.epoch - 1))


async def test_a_large_object_may_leave_the_loop(registry: Registry) -> None:
    body = {"metadata": {"name": "m", "namespace": "a"}, "data": {"k": "v" * (LARGE + 1)}}
    await registry.create(MAPS, "a", draft(MAPS, body), Write())
    assert registry.update_at_once(MAPS, "a", "m", Stored.thaw, Write(patch=True)) is None


def replicas(registry: Registry, made: list[Write]) -> Replicas:
    body = {"metadata": {"generateName": "web-", "labels": {"app": "web"}}, "spec": SPEC}

    def write() -> Write:
        made.append(Write(manager="m"))
        return made[-1]

    return Replicas(registry, PODS, "a", orjson.dumps(body), write)


async def test_replicas_are_as_if_each_was_created(registry: Registry) -> None:
    admitted: list[Write] = []
    many = replicas(registry, admitted)
    stored = [await many.create() for _ in range(4)]
    assert len(admitted) == 1
    first = without_version(stored[0])
    assert all(without_version(each) == first for each in stored)
    metadata = [orjson.loads(each.json)["metadata"] for each in stored]
    assert len({each["uid"] for each in metadata}) == len({each["name"] for each in metadata}) == 4
    assert all(each["name"].startswith("web-") and each["namespace"] == "a" for each in metadata)
    assert [registry.get(PODS, "a", each.name).revision for each in stored] == [each.revision for each in stored]


async def test_the_next_replica_is_admitted_anew_after_another_write(registry: Registry) -> None:
    admitted: list[Write] = []
    many = replicas(registry, admitted)
    await many.create()
    await make(registry, "other")
    await many.create()
    await many.create()
    assert len(admitted) == 2
    registry.clock.advance(10**9)
    await many.create()
    assert len(admitted) == 3


async def test_taken_names_are_drawn_again(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    letters = iter(["aaaaa", "aaaaa", "bbbbb"])
    monkeypatch.setattr(registry.chance, "letters", lambda _: next(letters))
    many = replicas(registry, [])
    assert [(await many.create()).name, (await many.create()).name] == ["web-aaaaa", "web-bbbbb"]


async def test_a_replica_that_may_be_too_large_goes_the_other_way(registry: Registry) -> None:
    admitted: list[Write] = []
    many = replicas(registry, admitted)
    await many.create()
    registry.storage.collection(PODS.storage, PODS.native)._bound = Bound(1500)
    await many.create()
    await asyncio.sleep(0)
    assert len(admitted) == 2


async def test_a_creation_is_the_same_as_one_that_may_wait(registry: Registry) -> None:
    body = {"metadata": {"name": "one", "labels": {"a": "b"}}, "spec": SPEC}
    one = registry.create_at_once(PODS, "a", orjson.dumps(body), Write(manager="m"))
    assert one is not None and one.name == "one"
    two = await registry.create(
        PODS, "a", draft(PODS, body | {"metadata": {"name": "two", "labels": {"a": "b"}}}), Write(manager="m")
    )
    assert without_version(one) == without_version(two)
    named = registry.create_at_once(
        PODS, "a", orjson.dumps({"metadata": {"generateName": "g-"}, "spec": SPEC}), Write()
    )
    assert named is not None and named.name.startswith("g-")
    for bad, code in ((body, 409), ({"metadata": {"name": "three"}, "spec": {}}, 422)):
        with pytest.raises(ApiError) as caught:
            registry.create_at_once(PODS, "a", orjson.dumps(bad), Write())
        assert caught.value.code == code


async def test_a_creation_that_may_wait_is_left_to_the_other_way(registry: Registry) -> None:
    body = orjson.dumps({"metadata": {"name": "one"}, "spec": SPEC})
    assert registry.create_at_once(PODS, "a", body, Write(sent=1)) is None
    assert registry.create_at_once(PODS, "a", body, Write(dry_run=True)) is None
    assert registry.create_at_once(structs.replace(PODS, custom=True), "a", body, Write()) is None
    versioned = orjson.dumps({"metadata": {"name": "one", "resourceVersion": "7"}, "spec": SPEC})
    assert registry.create_at_once(PODS, "a", versioned, Write()) is None
    assert registry.find("", "pods", "a", "one") is None
