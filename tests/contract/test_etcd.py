"""The log in etcd: other servers, faults of the network and of etcd, and its history."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from hydrofoil.clock import Clock
from hydrofoil.storage.errors import (
    Behind,
    Conflict,
    Exists,
    Expired,
    Refused,
    Unavailable,
    Unknown,
    Unopened,
    Unsupported,
)
from hydrofoil.storage.etcd import EtcdLog
from hydrofoil.storage.storage import Storage
from hydrofoil.storage.unreadable import Unreadable
from tests.between import Between
from tests.contract.logs import MAPS, draft, listed, maps_of, opened, seen, watching
from tests.etcd import Etcd, etcd_log, options

pytestmark = pytest.mark.program("etcd")


@pytest.fixture
def prefix() -> str:
    return f"/{uuid4()}"


@pytest.fixture
async def between(etcd: Etcd) -> AsyncIterator[Between]:
    found = Between(etcd.url)
    await found.start()
    yield found
    await found.stop()


@pytest.fixture
async def two(etcd: Etcd, between: Between, prefix: str) -> AsyncIterator[tuple[Storage, Storage]]:
    """The storages of two servers; the relay is in front of the second."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(opened(etcd_log(etcd.url, prefix)))
        second = await stack.enter_async_context(opened(etcd_log(between.url, prefix)))
        yield first, second


def call(etcd: Etcd, method: str, **body: Any) -> Any:
    """Call a method of etcd; texts of bytes are encoded."""
    encoded = {k: b64encode(v).decode() if isinstance(v, bytes) else v for k, v in body.items()}
    return json.loads(etcd.call(method, json.dumps(encoded).encode()))


async def called(etcd: Etcd, method: str, **body: Any) -> Any:
    return await asyncio.to_thread(lambda: call(etcd, method, **body))


async def test_servers_on_one_etcd_agree(two: tuple[Storage, Storage]) -> None:
    mine, other = map(maps_of, two)
    watchers = [watching(mine, mine.revision), watching(other, other.revision)]
    x = await mine.create(draft("x"))
    await other.wait()
    found = other.get(MAPS, "a", "x")
    assert found and found.json == x.json
    new = await other.update(found, draft("x", k="1"))
    with pytest.raises(Conflict):
        await mine.delete(x)
    with pytest.raises(Exists):
        await mine.create(draft("x"))
    present = mine.get(MAPS, "a", "x")
    assert present and present.revision == new.revision
    gone = await mine.delete(present)
    await other.wait(gone.revision)
    first, second = map(seen, watchers)
    assert first == second
    assert [kind for kind, *_ in first] == ["ADDED", "MODIFIED", "DELETED"]


async def test_a_write_whose_answer_is_lost_is_not_repeated(two: tuple[Storage, Storage], between: Between) -> None:
    mine, other = map(maps_of, two)
    watcher = watching(mine, mine.revision)
    between.hold()
    writing = asyncio.ensure_future(other.create(draft("x")))
    await mine.wait(mine.revision + 1)
    assert not writing.done() and listed(other) == []
    between.cut()
    with pytest.raises(Unknown):
        await writing
    between.release()
    await other.wait()
    assert listed(mine) == listed(other) == ["a/x"]
    assert [kind for kind, *_ in seen(watcher)] == ["ADDED"]


async def test_without_a_connection_nothing_is_written(two: tuple[Storage, Storage], between: Between) -> None:
    mine, other = map(maps_of, two)
    x = await other.create(draft("x"))
    between.refuse()
    while True:
        # A write on the broken connection has an outcome that is not known.
        try:
            await other.create(draft("y"))
        except Unknown:
            continue
        except Unavailable:
            break
    assert listed(other) == ["a/x"] and other.ready(x.revision)
    await between.start()
    await mine.wait()
    y = mine.get(MAPS, "a", "y")
    assert y is None
    await other.create(draft("y"))
    assert listed(other) == ["a/x", "a/y"]


async def test_answers_that_are_late_lose_nothing(two: tuple[Storage, Storage], between: Between) -> None:
    mine, other = map(maps_of, two)
    between.delay = 0.02
    stored = await asyncio.gather(*(other.create(draft(f"n{i}")) for i in range(10)))
    assert other.revision >= max(made.revision for made in stored)
    await mine.wait()
    assert listed(mine) == listed(other) == [f"a/n{i}" for i in range(10)]


@pytest.mark.parametrize("after", [1, 40, 200, 900])
async def test_a_cut_in_the_middle_of_an_event_loses_none(
    two: tuple[Storage, Storage], between: Between, after: int
) -> None:
    mine, other = map(maps_of, two)
    watchers = [watching(mine, mine.revision), watching(other, other.revision)]
    between.left = after
    last = [await mine.create(draft(f"n{i}", k="x" * 100)) for i in range(12)][-1]
    await other.wait(last.revision)
    assert between.left is None
    first, second = map(seen, watchers)
    assert first == second and len(first) == 12


async def test_a_compaction_beyond_its_place_makes_a_server_read_everything_again(
    two: tuple[Storage, Storage], between: Between, etcd: Etcd
) -> None:
    mine, other = map(maps_of, two)
    gone, kept, changed = [await mine.create(draft(n)) for n in ("gone", "kept", "changed")]
    await other.wait()
    before = other.revision
    watcher = watching(other, before)
    between.refuse()
    await mine.delete(gone)
    new = await mine.update(changed, draft("changed", k="1"))
    last = await mine.create(draft("new"))
    await called(etcd, "kv/compaction", revision=last.revision, physical=True)
    await between.start()
    await other.wait()
    assert seen(watcher) == [
        ("DELETED", "gone", before),
        ("MODIFIED", "changed", new.revision),
        ("ADDED", "new", last.revision),
    ]
    assert listed(other) == listed(mine)
    found = other.get(MAPS, "a", "kept")
    assert found and found.revision == kept.revision
    with pytest.raises(Expired):
        watching(other, before)
    more = await mine.create(draft("more"))
    await other.wait(more.revision)
    assert seen(watcher) == [("ADDED", "more", more.revision)]


async def test_watches_from_before_a_start_resume(etcd: Etcd, prefix: str) -> None:
    async with opened(etcd_log(etcd.url, prefix)) as storage:
        maps = maps_of(storage)
        first = await maps.create(draft("x", k="1"))
        second = await maps.update(first, draft("x", k="2"))
        third = await maps.create(draft("y"))
    async with opened(etcd_log(etcd.url, prefix)) as storage:
        maps = maps_of(storage)
        expected = [("MODIFIED", "x", second.revision), ("ADDED", "y", third.revision)]
        assert seen(watching(maps, first.revision)) == expected
        assert listed(maps, revision=first.revision) == ["a/x"]
    await called(etcd, "kv/compaction", revision=second.revision, physical=True)
    async with opened(etcd_log(etcd.url, prefix)) as storage:
        maps = maps_of(storage)
        assert seen(watching(maps, second.revision)) == expected[1:]
        with pytest.raises(Expired):
            watching(maps, first.revision)


async def test_writes_of_others_outside_of_the_prefix_are_not_waited_for(
    two: tuple[Storage, Storage], etcd: Etcd
) -> None:
    maps = maps_of(two[0])
    await maps.create(draft("x"))
    answer = await called(etcd, "kv/put", key=b"elsewhere", value=b"1")
    await maps.wait()
    assert maps.revision >= int(answer["header"]["revision"])


async def test_events_of_one_transaction_come_together(two: tuple[Storage, Storage], etcd: Etcd, prefix: str) -> None:
    mine, other = map(maps_of, two)
    for i in range(5):
        await mine.create(draft(f"n{i}"))
    await other.wait()
    watcher = watching(other, other.revision)
    keys = f"{prefix}/configmaps/".encode()
    answer = await called(etcd, "kv/deleterange", key=keys, range_end=keys[:-1] + b"0")
    await other.wait()
    revision = int(answer["header"]["revision"])
    assert sorted(seen(watcher)) == [("DELETED", f"n{i}", revision) for i in range(5)]
    assert listed(other) == []


async def test_a_value_that_cannot_be_read_is_missing_in_no_list(
    two: tuple[Storage, Storage], etcd: Etcd, prefix: str
) -> None:
    maps = maps_of(two[0])
    await maps.create(draft("x"))
    await called(etcd, "kv/put", key=f"{prefix}/configmaps/a/wrong".encode(), value=b"k8s\0\xff\xff")
    await maps.wait()
    assert maps.fault("a", "wrong") and not maps.fault("a", "x")
    for unread in (lambda: listed(maps), lambda: maps.get(MAPS, "a", "wrong")):
        with pytest.raises(Unreadable):
            unread()
    async with opened(etcd_log(etcd.url, prefix)) as again:
        assert maps_of(again).get(MAPS, "a", "x") and maps_of(again).fault("a", "wrong")
    await called(etcd, "kv/deleterange", key=f"{prefix}/configmaps/a/wrong".encode())
    await maps.wait()
    assert not maps.fault("a", "wrong")
    assert listed(maps) == ["a/x"]
    await maps.create(draft("wrong"))


async def test_an_object_that_etcd_refuses_is_not_written(two: tuple[Storage, Storage]) -> None:
    maps = maps_of(two[0])
    with pytest.raises(Refused, match="too large"):
        await maps.create(draft("large", k="x" * 1_600_000))
    await maps.create(draft("x"))
    assert listed(maps) == ["a/x"]


async def test_the_loss_of_etcd_is_a_problem_until_it_is_back(tmp_path: Path) -> None:
    etcd = await asyncio.to_thread(Etcd, tmp_path)
    try:
        async with opened(EtcdLog(options(etcd.url), 0.0, latest_revision_timeout=0.2)) as storage:
            maps = maps_of(storage)
            x = await maps.create(draft("x"))
            watcher = watching(maps, x.revision)
            etcd.freeze()
            with pytest.raises(Behind):
                await maps.wait()
            writing = asyncio.ensure_future(maps.create(draft("y")))
            while not storage.problem():
                await asyncio.sleep(0.01)
            assert maps.ready(x.revision) and listed(maps) == ["a/x"]
            etcd.thaw()
            y = await writing
            assert seen(watcher) == [("ADDED", "y", y.revision)]
            await asyncio.to_thread(etcd.kill)
            while not storage.problem():
                await asyncio.sleep(0.01)
            await asyncio.to_thread(etcd.start)
            while storage.problem():
                await asyncio.sleep(0.01)
            z = await maps.create(draft("z"))
            assert seen(watcher) == [("ADDED", "z", z.revision)]
    finally:
        etcd.kill()


async def test_many_objects_are_loaded_in_pages(etcd: Etcd, prefix: str) -> None:
    count = 3000
    async with opened(etcd_log(etcd.url, prefix)) as storage:
        maps = maps_of(storage)
        for begin in range(0, count, 100):
            await asyncio.gather(*(maps.create(draft(f"n{i:05}")) for i in range(begin, begin + 100)))
    async with opened(etcd_log(etcd.url, prefix)) as storage:
        assert listed(maps_of(storage))[:1000] == [f"a/n{i:05}" for i in range(1000)]
        assert maps_of(storage).stats().objects == count


async def test_a_server_without_etcd_does_not_start() -> None:
    log = etcd_log("http://127.0.0.1:1")
    with pytest.raises(Unopened, match=r"cannot use etcd: http://127\.0\.0\.1:1: "):
        await Storage(log, Clock()).open()


async def test_a_log_does_not_return_to_an_earlier_state(two: tuple[Storage, Storage]) -> None:
    with pytest.raises(Unsupported):
        two[0].restore(two[0].checkpoint())
