"""Views whose truth is elsewhere: late, shared, and lost events."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import pairwise

import pytest

from hydrofoil.clock import Clock
from hydrofoil.engine import Change, View
from hydrofoil.storage.errors import Conflict, Exists, Expired
from hydrofoil.storage.storage import Storage
from hydrofoil.watch.hub import Hub
from tests.contract.late import LateLog, Truth
from tests.contract.logs import EVERYTHING, MAPS, draft, listed, maps_of, opened, seen, watching


class Two:
    """Two servers' storages over one truth."""

    def __init__(self) -> None:
        self.truth = Truth()
        self.logs = [LateLog(self.truth), LateLog(self.truth)]
        self.storages: list[Storage] = []


@pytest.fixture
async def two() -> AsyncIterator[Two]:
    found = Two()
    async with AsyncExitStack() as stack:
        for log in found.logs:
            found.storages.append(await stack.enter_async_context(opened(log)))
        yield found


async def test_servers_on_one_log_agree(two: Two) -> None:
    mine, other = map(maps_of, two.storages)
    watchers = [watching(mine, None), watching(other, None)]
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
    await mine.delete(present)
    await other.wait()
    first, second = map(seen, watchers)
    assert first == second
    assert [kind for kind, *_ in first] == ["ADDED", "MODIFIED", "DELETED"]
    assert listed(mine) == listed(other) == []


async def test_a_view_is_not_ready_while_its_events_are_late(two: Two) -> None:
    mine, other = map(maps_of, two.storages)
    two.logs[1].feed.hold()
    x = await mine.create(draft("x"))
    assert mine.ready() and two.storages[0].ready()
    assert not other.ready() and not two.storages[1].ready()
    assert not other.ready(x.revision) and other.get(MAPS, "a", "x") is None
    waits = [asyncio.ensure_future(other.wait()), asyncio.ensure_future(two.storages[1].wait())]
    await asyncio.sleep(0)
    two.logs[1].feed.go()
    await asyncio.gather(*waits)
    assert other.ready() and listed(other) == ["a/x"]


async def test_what_is_not_written_is_judged_as_well(two: Two) -> None:
    mine, other = map(maps_of, two.storages)
    x = await mine.create(draft("x"))
    await other.wait()
    seen_by_other = other.get(MAPS, "a", "x")
    assert seen_by_other
    two.logs[1].feed.hold()
    new = await mine.update(x, draft("x", k="1"))
    same = asyncio.ensure_future(other.update(seen_by_other, draft("x")))
    await asyncio.sleep(0)
    assert not same.done()
    two.logs[1].feed.go()
    with pytest.raises(Conflict):
        await same
    present = other.get(MAPS, "a", "x")
    assert present and present.revision == new.revision
    assert (await other.update(present, draft("x", k="1"))).revision == new.revision


async def test_revisions_have_gaps_and_progress_closes_them(two: Two) -> None:
    maps = maps_of(two.storages[0])
    stored = [await maps.create(draft(f"n{i}")) for i in range(4)]
    assert any(b.revision - a.revision > 1 for a, b in pairwise(stored))
    two.storages[0]._view.progress("/configmaps", maps.revision + 50)
    await maps.wait(stored[-1].revision + 50)
    assert listed(maps, revision=stored[-1].revision + 20) == [f"a/n{i}" for i in range(4)]


async def test_a_feed_that_lost_its_place_tells_what_differs(two: Two) -> None:
    mine, other = map(maps_of, two.storages)
    gone, kept, changed = [await mine.create(draft(n)) for n in ("gone", "kept", "changed")]
    reborn = await mine.create(draft("reborn"))
    await other.wait()
    watcher = watching(other, other.revision)
    before = other.revision
    two.logs[1].forget(("", "configmaps"))
    await two.logs[1].worked_off("/configmaps")
    await mine.delete(gone)
    new = await mine.update(changed, draft("changed", k="1"))
    last = await mine.update(new, draft("changed", k="2"))
    await mine.delete(reborn)
    again = await mine.create(draft("reborn", uid="2"))
    two.logs[1].feed.lose("/configmaps")
    await other.wait()
    reported = seen(watcher)
    assert sorted(reported[:2]) == [("DELETED", "gone", before), ("DELETED", "reborn", before)]
    assert reported[2:] == [("MODIFIED", "changed", last.revision), ("ADDED", "reborn", again.revision)]
    assert listed(other) == listed(mine)
    found = other.get(MAPS, "a", "kept")
    assert found and found.revision == kept.revision
    for old in (before, last.revision):
        with pytest.raises(Expired):
            watching(other, old)
    assert seen(watching(other, other.revision)) == []


def test_events_come_once_and_in_order() -> None:
    """Repeated events of a feed are no news, wherever it took up its place again."""
    view = View(300.0, 100, 1 << 30, None, Clock().native)
    shard = view.shard("x")
    view.load("x", [(7, Change.create(shard, draft("old")))], 10)
    watcher = shard.watch(MAPS, EVERYTHING, "json", 10, 1, False)
    change = Change.create(shard, draft("x"))
    assert view.apply(change, 9) is None
    made = view.apply(change, 15)
    assert made and (made.revision, shard.revision) == (15, 15)
    assert view.apply(change, 15) is None
    gone = Change.delete(shard, made)
    assert (last := view.apply(gone, 18)) and last.revision == 18
    assert view.apply(gone, 20) is None and shard.revision == 20
    assert seen(watcher) == [("ADDED", "x", 15), ("DELETED", "x", 18)]
    found = shard.get(MAPS, "a", "old")
    assert found and found.revision == 7


async def test_waking_comes_from_any_thread(two: Two) -> None:
    """Of Python by a call, of native threads by the descriptor of the view."""
    storage, maps = two.storages[0], maps_of(two.storages[0])
    hub = Hub(storage, Clock())
    served = asyncio.Event()

    class Stream:
        urgent = True

        def pump(self) -> None:
            assert threading.get_ident() == loop_thread
            served.set()

    loop_thread = threading.get_ident()
    token = hub.token()
    hub._streams[token] = Stream()  # type: ignore[assignment]
    watcher = watching(maps, maps.revision, token)
    await maps_of(two.storages[1]).create(draft("x"))
    await served.wait()
    assert len(seen(watcher)) == 1
    served.clear()
    view = storage._view
    await asyncio.to_thread(view.apply, Change.create(view.shard("/configmaps"), draft("y")), maps.revision + 9)
    await served.wait()
    assert len(seen(watcher)) == 1
    hub.wake()
    await asyncio.to_thread(hub.wake)
    del hub._streams[token]


def test_bytes_that_another_thread_drops_are_freed() -> None:
    """Encodings are objects of Python: an event sets them aside, and the next call of the loop frees them."""
    view = View(300.0, 4, 1 << 30, None, Clock().native)
    shard = view.shard("x")
    view.load("x", [], 1)
    changes = [Change.create(shard, draft(f"n{i}", v="x" * 10_000)) for i in range(100)]
    for revision, change in enumerate(changes, 2):
        view.apply(change, revision)
    tracemalloc.start()
    stop = threading.Event()

    def feed() -> None:
        revision = shard.revision
        while not stop.is_set():
            revision += 1
            view.apply(changes[revision % len(changes)], revision)

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        for _ in range(300):
            cursor = shard.list(MAPS, EVERYTHING, "protobuf")
            assert sum(len(part) for part in cursor.chunk(1 << 20) or ()) > 1_000_000
            cursor = shard.list(MAPS, EVERYTHING, "json").packed()
            assert cursor.chunk(1 << 20)
    finally:
        stop.set()
        thread.join()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 8 << 20
