"""The log on a disk: its state after a crash, and faults of the disk."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hydrofoil.clock import Clock
from hydrofoil.engine import data_check
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.durable import DurableLog
from hydrofoil.storage.errors import Exists, Refused, Undecided, Unopened, Unsupported
from hydrofoil.storage.storage import Storage
from tests.contract.logs import MAPS, draft, keys, listed, maps_of, opened, page, seen, watching


@pytest.fixture
async def log(tmp_path: Path) -> DurableLog:
    return DurableLog(str(tmp_path / "data"))


@pytest.fixture
async def storage(log: DurableLog) -> AsyncIterator[Storage]:
    async with opened(log) as found:
        yield found


@pytest.fixture
def maps(storage: Storage) -> Collection:
    return maps_of(storage)


async def test_a_crash_loses_nothing_and_ends_no_history(tmp_path: Path, maps: Collection) -> None:
    begin = maps.revision
    first = await maps.create(draft("x", k="1"))
    second = await maps.update(first, draft("x", k="2"))
    third = await maps.create(draft("y"))
    cursor = page(maps, 1, 0, "")
    _, rest = cursor.ahead()
    assert rest
    copy = tmp_path / "copy"
    await asyncio.to_thread(shutil.copytree, tmp_path / "data", copy)
    async with opened(DurableLog(str(copy))) as again:
        there = maps_of(again)
        assert keys(page(there, 9, cursor.revision, rest[0]).versions(9)) == ["a/y"]
        assert listed(there, revision=begin) == [] and listed(there, revision=second.revision) == ["a/x"]
        assert seen(watching(there, first.revision)) == [
            ("MODIFIED", "x", second.revision),
            ("ADDED", "y", third.revision),
        ]
        found = there.get(MAPS, "a", "x")
        assert found and found.json == second.json
        later = await there.delete(found)
        assert later.revision > there.revision - 1 > third.revision


async def test_nothing_is_shown_before_it_is_durable(log: DurableLog, maps: Collection) -> None:
    watcher = watching(maps, maps.revision)
    before = maps.revision
    log._native.fail(delay=0.1)
    writing = [asyncio.ensure_future(maps.create(draft(f"n{i}"))) for i in range(3)]
    again = asyncio.ensure_future(maps.create(draft("n0")))
    await asyncio.sleep(0)
    assert (listed(maps), seen(watcher), maps.revision) == ([], [], before)
    stored = await asyncio.gather(*writing)
    assert seen(watcher) == [("ADDED", f"n{i}", made.revision) for i, made in enumerate(stored)]
    with pytest.raises(Exists):
        await again


async def test_a_full_disk_refuses_writes_until_it_has_space(log: DurableLog, maps: Collection) -> None:
    kept = await maps.create(draft("x"))
    log._native.fail(full=True)
    for _ in range(2):
        with pytest.raises(Refused, match="no space left"):
            await maps.create(draft("y"))
    with pytest.raises(Refused, match="no space left"):
        await maps.delete(kept)
    assert log.problem() == ""
    log._native.fail()
    await maps.delete(kept)
    await maps.create(draft("y"))
    assert listed(maps) == ["a/y"]


@pytest.mark.parametrize("fault", ["sync", "torn"])
async def test_a_disk_that_failed_is_not_written_to_again(
    log: DurableLog, maps: Collection, tmp_path: Path, fault: str
) -> None:
    kept = await maps.create(draft("x"))
    log._native.fail(sync=fault == "sync", torn=fault == "torn")
    first = asyncio.ensure_future(maps.create(draft("y")))
    with pytest.raises(Undecided, match="log-"):
        await first
    log._native.fail()
    with pytest.raises(Refused, match="log-"):
        await maps.create(draft("z"))
    assert "log-" in log.problem()
    assert listed(maps) == ["a/x"]
    await log.close()
    async with opened(DurableLog(str(tmp_path / "data"))) as again:
        there = maps_of(again)
        found = there.get(MAPS, "a", "x")
        assert found and found.revision == kept.revision
        # Whether the write was done could not be known.
        assert listed(there) == (["a/x", "a/y"] if fault == "sync" else ["a/x"])
        await there.create(draft("z"))


async def test_a_stop_waits_for_writes_under_way(tmp_path: Path) -> None:
    storage = Storage(DurableLog(str(tmp_path)), Clock())
    await storage.open()
    maps = maps_of(storage)
    writing = [asyncio.ensure_future(maps.create(draft(f"n{i}"))) for i in range(20)]
    await asyncio.sleep(0)
    await storage.close()
    assert len(await asyncio.gather(*writing)) == 20
    with pytest.raises(Refused, match="stopping"):
        await maps.create(draft("x"))
    assert data_check(str(tmp_path))[0] == 20


async def test_a_second_log_on_the_folder_is_refused(storage: Storage, tmp_path: Path) -> None:
    with pytest.raises(Unopened, match="data: another process uses this folder"):
        await Storage(DurableLog(str(tmp_path / "data")), Clock()).open()


async def test_a_folder_does_not_return_to_an_earlier_state(storage: Storage) -> None:
    with pytest.raises(Unsupported):
        storage.restore(storage.checkpoint())


async def test_a_compaction_ends_history_for_later_starts(log: DurableLog, maps: Collection, tmp_path: Path) -> None:
    for n in range(3):
        await maps.create(draft(f"n{n}"))
    log.compact()
    await maps.create(draft("x"))
    await log.close()
    async with opened(DurableLog(str(tmp_path / "data"))) as again:
        assert listed(maps_of(again)) == ["a/n0", "a/n1", "a/n2", "a/x"]
