"""The contract of every log, and of the collections over it, by the words of the requirements (RV-*, PG-*, WA-*)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hydrofoil.engine import Selector
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.errors import Behind, Conflict, Exists, Expired, Future, Missing
from hydrofoil.storage.log import Log
from hydrofoil.storage.storage import Storage
from hydrofoil.watch.hub import INITIAL_END, MORE, NOTHING
from tests.contract.logs import (
    ALL,
    EVENTS,
    EVERYTHING,
    MAPS,
    SECRETS,
    chosen,
    draft,
    keys,
    listed,
    maps_of,
    opened,
    page,
    seen,
    watching,
)


@pytest.fixture(params=ALL)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    return chosen(request, tmp_path)


@pytest.fixture
async def storage(log: Log) -> AsyncIterator[Storage]:
    async with opened(log) as found:
        yield found


@pytest.fixture
def maps(storage: Storage) -> Collection:
    return maps_of(storage)


async def test_revisions_grow_and_none_is_given_twice(storage: Storage, maps: Collection) -> None:
    found = [await maps.create(draft(f"n{i}")) for i in range(3)]
    found.append(await maps.update(found[0], draft("n0", k="1")))
    found.append(await maps.delete(found[1]))
    revisions = [stored.revision for stored in found]
    assert revisions == sorted(set(revisions))
    assert maps.revision == revisions[-1]


async def test_collections_do_not_see_one_another(storage: Storage, maps: Collection) -> None:
    secrets = storage.collection(("", "secrets"), SECRETS)
    await secrets.wait()
    secret, _ = SECRETS.decode(b'{"metadata":{"name":"s","namespace":"a","uid":"s"}}', "json")
    made = await secrets.create(secret)
    stored = await maps.create(draft("x"))
    found = maps.get(MAPS, "a", "x")
    assert found and found.revision == stored.revision
    assert maps.get(MAPS, "b", "x") is None
    assert listed(maps) == ["a/x"]
    assert secrets.ready(made.revision) and maps.ready(stored.revision)


async def test_a_name_is_given_once(maps: Collection) -> None:
    await maps.create(draft("x"))
    with pytest.raises(Exists):
        await maps.create(draft("x", k="2"))
    await maps.create(draft("x", "b"))
    assert listed(maps) == ["a/x", "b/x"]


async def test_the_same_content_is_not_written_again(maps: Collection) -> None:
    old = await maps.create(draft("x", k="1"))
    assert (await maps.update(old, draft("x", k="1"))).revision == old.revision
    assert maps.revision == old.revision


async def test_writes_name_the_version_they_were_made_from(maps: Collection) -> None:
    old = await maps.create(draft("x"))
    new = await maps.update(old, draft("x", k="1"))
    with pytest.raises(Conflict):
        await maps.update(old, draft("x", k="2"))
    with pytest.raises(Conflict):
        await maps.delete(old)
    gone = await maps.delete(new)
    assert gone.revision > new.revision
    assert json.loads(gone.json)["data"] == {"k": "1"}
    with pytest.raises(Missing):
        await maps.update(new, draft("x", k="3"))
    with pytest.raises(Missing):
        await maps.delete(new)


async def test_lists_are_in_the_order_of_keys_and_selected(maps: Collection) -> None:
    for name, namespace, label in [("b", "a", "1"), ("a", "b", "2"), ("a", "a", "2"), ("c", "a-b", "1")]:
        await maps.create(draft(name, namespace, {"l": label}))
    assert listed(maps) == ["a-b/c", "a/a", "a/b", "b/a"]
    assert listed(maps, Selector(MAPS, "a", "", "")) == ["a/a", "a/b"]
    assert listed(maps, Selector(MAPS, "", "l=2", "")) == ["a/a", "b/a"]
    assert listed(maps, Selector(MAPS, "", "", "metadata.name=a")) == ["a/a", "b/a"]


async def test_lists_of_the_past(maps: Collection) -> None:
    empty = maps.revision
    x = await maps.create(draft("x"))
    y = await maps.create(draft("y"))
    await maps.delete(x)
    assert listed(maps, revision=x.revision) == ["a/x"]
    assert listed(maps, revision=y.revision) == ["a/x", "a/y"]
    assert listed(maps) == ["a/y"]
    # To this store, revision 0 means now: the empty state is the one before the first write.
    assert listed(maps, revision=empty) == []
    with pytest.raises(Future) as ahead:
        listed(maps, revision=maps.revision + 5)
    assert (ahead.value.asked, ahead.value.current) == (maps.revision + 5, maps.revision)


async def test_pages_are_of_one_state(maps: Collection) -> None:
    stored = [await maps.create(draft(f"n{i}")) for i in range(5)]
    cursor = page(maps, 2, 0, "")
    count, rest = cursor.ahead()
    revision = cursor.revision
    assert rest and (count, rest[1]) == (2, 3)
    assert keys(cursor.versions(10)) == ["a/n0", "a/n1"]
    await maps.delete(stored[3])
    await maps.create(draft("n2b"))
    cursor = page(maps, 10, revision, rest[0])
    assert cursor.ahead() == (3, None)
    assert keys(cursor.versions(10)) == ["a/n2", "a/n3", "a/n4"]


async def test_the_history_is_bounded(maps: Collection) -> None:
    begin = maps.revision
    last = await maps.create(draft("x"))
    for i in range(2 * EVENTS):
        last = await maps.update(last, draft("x", k=str(i)))
    for read in (
        lambda: listed(maps, revision=begin),
        lambda: watching(maps, begin),
    ):
        with pytest.raises(Expired) as gone:
            read()
        assert gone.value.asked == begin < gone.value.oldest <= last.revision
    assert listed(maps) == ["a/x"]


async def test_a_watch_tells_what_happens_after_its_revision(maps: Collection) -> None:
    x = await maps.create(draft("x"))
    watcher = watching(maps, x.revision, 1)
    assert seen(watcher) == []
    new = await maps.update(x, draft("x", k="1"))
    gone = await maps.delete(new)
    assert seen(watcher) == [("MODIFIED", "x", new.revision), ("DELETED", "x", gone.revision)]
    assert seen(watcher) == []
    again = watching(maps, new.revision, 2)
    assert seen(again) == [("DELETED", "x", gone.revision)]


async def test_a_watch_without_a_revision_begins_with_the_state(maps: Collection) -> None:
    x = await maps.create(draft("x"))
    watcher = watching(maps, None, 1)
    y = await maps.create(draft("y"))
    assert seen(watcher) == [("ADDED", "x", x.revision), ("ADDED", "y", y.revision)]
    mark = json.loads(watcher.bookmark(False) or b"")
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["resourceVersion"] == str(maps.revision)


async def test_objects_enter_and_leave_a_selection(maps: Collection) -> None:
    watcher = watching(maps, None, 1, Selector(MAPS, "", "l=1", ""))
    x = await maps.create(draft("x"))
    entered = await maps.update(x, draft("x", labels={"l": "1"}))
    stayed = await maps.update(entered, draft("x", labels={"l": "1"}, k="1"))
    left = await maps.update(stayed, draft("x", labels={"l": "2"}))
    await maps.delete(left)
    assert seen(watcher) == [
        ("ADDED", "x", entered.revision),
        ("MODIFIED", "x", stayed.revision),
        ("DELETED", "x", left.revision),
    ]


async def test_only_those_are_woken_whom_a_write_concerns(storage: Storage, maps: Collection) -> None:
    watchers = {
        1: Selector(MAPS, "a", "", ""),
        2: Selector(MAPS, "b", "", ""),
        3: Selector(MAPS, "a", "", "metadata.name=x"),
        4: Selector(MAPS, "a", "", "metadata.name=y"),
        5: EVERYTHING,
    }
    kept = [watching(maps, maps.revision, token, s) for token, s in watchers.items()]
    await maps.create(draft("x"))
    assert sorted(storage.take_woken()) == [1, 3, 5]
    assert storage.take_woken() == []
    assert maps.stats().objects == 1
    assert maps.stats().watchers == len(kept)


async def test_a_commit_returns_once_it_is_in_the_view(maps: Collection) -> None:
    watcher = watching(maps, None)
    stored = await maps.create(draft("x"))
    found = maps.get(MAPS, "a", "x")
    assert found and found.json == stored.json
    assert seen(watcher) == [("ADDED", "x", stored.revision)]


async def test_a_refused_commit_was_not_done_and_the_view_shows_why(storage: Storage, maps: Collection) -> None:
    old = await maps.create(draft("x"))
    rivals = [maps.update(old, draft("x", k=k)) for k in "12"]
    outcomes = await asyncio.gather(*rivals, return_exceptions=True)
    [done] = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    assert [type(outcome) for outcome in outcomes if outcome is not done] == [Conflict]
    found = maps.get(MAPS, "a", "x")
    assert found and found.revision == done.revision != old.revision
    assert maps.revision == done.revision


async def test_a_commit_goes_on_when_its_caller_is_cancelled(maps: Collection) -> None:
    writing = asyncio.ensure_future(maps.create(draft("x")))
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    await maps.create(draft("y"))
    while listed(maps) != ["a/x", "a/y"]:
        # Writes to different objects have no order.
        await maps.wait(maps.revision + 1)


async def test_waiting_ends_when_the_collection_gets_there(maps: Collection) -> None:
    assert maps.ready(maps.revision)
    await maps.wait()
    assert not maps.ready(maps.revision + 1)
    waits = [asyncio.ensure_future(maps.wait(maps.revision + 1)) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(wait.done() for wait in waits)
    stored = await maps.create(draft("x"))
    await asyncio.gather(*waits)
    assert maps.ready(stored.revision)


async def test_who_waits_for_too_long_is_told_how_far_it_is(
    storage: Storage, maps: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage._log, "known_revision_timeout", 0.01)
    asked = maps.revision + 10**9
    with pytest.raises(Behind) as behind:
        await maps.wait(asked)
    assert (behind.value.asked, behind.value.current) == (asked, maps.revision)
    assert not maps._waiters or all(waiter.done() for *_, waiter in maps._waiters)


async def test_a_watch_from_a_revision_to_come_begins_after_it(maps: Collection) -> None:
    """Another watch of the same kind, at the same place, is given the earlier events."""
    first = await maps.create(draft("n0"))
    watchers = [watching(maps, first.revision), watching(maps, first.revision + 1000)]
    stored = [await maps.create(draft(f"n{i}")) for i in range(1, 4)]
    reported = [(kind, name) for kind, name, _ in seen(watchers[0])]
    assert reported == [("ADDED", f"n{i}") for i in range(1, 4)]
    assert stored[-1].revision < first.revision + 1000
    assert seen(watchers[1]) == []


async def test_compaction_ends_history_and_no_stream(storage: Storage, maps: Collection) -> None:
    first = await maps.create(draft("x"))
    slow = watching(maps, first.revision)
    last = await maps.update(first, draft("x", k="1"))
    storage.compact()
    for read in (lambda: listed(maps, revision=first.revision), lambda: watching(maps, first.revision)):
        with pytest.raises(Expired) as gone:
            read()
        assert gone.value.oldest == last.revision
    assert listed(maps, revision=last.revision) == ["a/x"]
    assert seen(slow) == [("MODIFIED", "x", last.revision)]
    assert seen(watching(maps, last.revision)) == []


async def test_a_log_that_is_well_has_no_problem(storage: Storage) -> None:
    assert storage.problem() == ""


async def test_who_asks_is_told_how_far_the_truth_is(storage: Storage, maps: Collection) -> None:
    stored = await maps.create(draft("x"))
    assert await storage._log.ask(("", "configmaps")) == stored.revision
    assert storage._log.latest(("", "configmaps")) in (stored.revision, None)


async def test_a_watcher_drains_at_most_what_is_asked_for(maps: Collection) -> None:
    """Asked for one byte it gives one event; a cursor that is not drained stands still."""
    watcher = watching(maps, maps.revision)
    for i in range(3):
        await maps.create(draft(f"n{i}"))
    pieces = [watcher.drain(1) for _ in range(3)]
    assert [json.loads(data or b"")["object"]["metadata"]["name"] for data, _ in pieces] == ["n0", "n1", "n2"]
    assert [left for _, left in pieces] == [MORE, MORE, NOTHING]
    assert watcher.drain(1) == (None, NOTHING)
    await maps.create(draft("n3"))
    assert watcher.waits()
    together, left = watcher.drain(1 << 20)
    assert (together or b"").count(b"\n") == 1
    assert (left, watcher.waits()) == (NOTHING, False)


async def test_changes_are_handles_of_before_and_after(maps: Collection) -> None:
    """The state first, as objects without a version before; then each change with the version before."""
    old = await maps.create(draft("x", k="1"))
    watcher = watching(maps, None)
    begun, left = watcher.changes(10)
    assert ([(before, now and now.revision) for before, now in begun], left) == ([(None, old.revision)], INITIAL_END)
    new = await maps.update(old, draft("x", k="2"))
    await maps.delete(new)
    changes, left = watcher.changes(10)
    shown = [(before and before.revision, now and now.revision) for before, now in changes]
    assert (shown, left) == ([(old.revision, new.revision), (new.revision, None)], NOTHING)
