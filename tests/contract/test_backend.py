"""What every backend promises, on the native store and on one in plain Python (RV-*, PG-*, WA-*)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest

from hydrofoil import engine
from hydrofoil.apis.catalog import Catalog
from hydrofoil.engine import Draft, Selector, Stored
from hydrofoil.storage.backend import Conflict, Exists, Expired, Future, Missing
from hydrofoil.storage.memory import MemoryBackend
from hydrofoil.watch.stream import NOTHING
from tests.contract.plain import PlainBackend

CATALOG = Catalog()
EVENTS = 16
"""How many writes the history holds."""


def native(group: str, version: str, plural: str) -> engine.ResourceType:
    found = CATALOG.find(group, version, plural)
    assert found
    return found.native


MAPS = native("", "v1", "configmaps")
SECRETS = native("", "v1", "secrets")
EVERYTHING = Selector(MAPS, "", "", "")


@pytest.fixture(params=[MemoryBackend, PlainBackend], ids=["native", "plain"])
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param(events=EVENTS)


@pytest.fixture
def maps(backend: Any) -> Any:
    return backend.collection(MAPS, ("", "configmaps"))


def run(write: Coroutine[Any, Any, Stored]) -> Stored:
    return asyncio.run(write)


def draft(name: str, namespace: str = "a", labels: dict[str, str] | None = None, **data: str) -> Draft:
    body = {"metadata": {"name": name, "namespace": namespace, "uid": name, "labels": labels or {}}, "data": data}
    made, _ = MAPS.decode(json.dumps(body).encode(), "json")
    made.set_type()
    return made


def keys(found: list[Stored]) -> list[str]:
    return [f"{s.namespace}/{s.name}" for s in found]


def listed(maps: Any, selector: Selector = EVERYTHING, revision: int = 0) -> list[str]:
    return keys(maps.list(MAPS, selector, "json", 0, revision, "").versions(1000))


def seen(watcher: Any) -> list[tuple[str, str, int]]:
    lines = b""
    left = None
    while left != NOTHING:
        data, left = watcher.drain(1 << 20)
        lines += data or b""
    events = [json.loads(line) for line in lines.splitlines()]
    return [
        (e["type"], e["object"]["metadata"]["name"], int(e["object"]["metadata"]["resourceVersion"])) for e in events
    ]


def test_each_write_takes_one_revision_of_all_collections(backend: Any, maps: Any) -> None:
    first = run(maps.create(draft("x")))
    secret, _ = SECRETS.decode(b'{"metadata":{"name":"s","namespace":"a","uid":"s"}}', "json")
    second = run(backend.collection(SECRETS, ("", "secrets")).create(secret))
    third = run(maps.update(first, draft("x", k="1")))
    assert [second.revision, third.revision] == [first.revision + 1, first.revision + 2]
    assert backend.revision == third.revision
    assert maps.get(MAPS, "a", "x").revision == third.revision
    assert maps.get(MAPS, "b", "x") is None


def test_a_name_is_given_once(maps: Any) -> None:
    run(maps.create(draft("x")))
    with pytest.raises(Exists):
        run(maps.create(draft("x", k="2")))
    run(maps.create(draft("x", "b")))
    assert listed(maps) == ["a/x", "b/x"]


def test_the_same_content_is_not_written_again(backend: Any, maps: Any) -> None:
    old = run(maps.create(draft("x", k="1")))
    assert run(maps.update(old, draft("x", k="1"))).revision == old.revision
    assert backend.revision == old.revision


def test_writes_name_the_version_they_were_made_from(maps: Any) -> None:
    old = run(maps.create(draft("x")))
    new = run(maps.update(old, draft("x", k="1")))
    with pytest.raises(Conflict):
        run(maps.update(old, draft("x", k="2")))
    with pytest.raises(Conflict):
        run(maps.delete(old))
    gone = run(maps.delete(new))
    assert gone.revision == new.revision + 1
    assert json.loads(gone.json)["data"] == {"k": "1"}
    with pytest.raises(Missing):
        run(maps.update(new, draft("x", k="3")))
    with pytest.raises(Missing):
        run(maps.delete(new))


def test_lists_are_in_the_order_of_keys_and_selected(maps: Any) -> None:
    for name, namespace, label in [("b", "a", "1"), ("a", "b", "2"), ("a", "a", "2"), ("c", "a-b", "1")]:
        run(maps.create(draft(name, namespace, {"l": label})))
    assert listed(maps) == ["a-b/c", "a/a", "a/b", "b/a"]
    assert listed(maps, Selector(MAPS, "a", "", "")) == ["a/a", "a/b"]
    assert listed(maps, Selector(MAPS, "", "l=2", "")) == ["a/a", "b/a"]
    assert listed(maps, Selector(MAPS, "", "", "metadata.name=a")) == ["a/a", "b/a"]


def test_lists_of_the_past(backend: Any, maps: Any) -> None:
    empty = backend.revision
    x = run(maps.create(draft("x")))
    y = run(maps.create(draft("y")))
    run(maps.delete(x))
    assert listed(maps, revision=x.revision) == ["a/x"]
    assert listed(maps, revision=y.revision) == ["a/x", "a/y"]
    assert listed(maps) == ["a/y"]
    # To this store, revision 0 means now: the empty state is the one before the first write.
    assert listed(maps, revision=empty) == []
    with pytest.raises(Future) as ahead:
        listed(maps, revision=backend.revision + 5)
    assert (ahead.value.asked, ahead.value.current) == (backend.revision + 5, backend.revision)


def test_pages_are_of_one_state(maps: Any) -> None:
    stored = [run(maps.create(draft(f"n{i}"))) for i in range(5)]
    cursor = maps.list(MAPS, EVERYTHING, "json", 2, 0, "")
    count, rest = cursor.ahead()
    revision = cursor.revision
    assert (count, rest[1]) == (2, 3)
    assert keys(cursor.versions(10)) == ["a/n0", "a/n1"]
    run(maps.delete(stored[3]))
    run(maps.create(draft("n2b")))
    cursor = maps.list(MAPS, EVERYTHING, "json", 10, revision, rest[0])
    assert cursor.ahead() == (3, None)
    assert keys(cursor.versions(10)) == ["a/n2", "a/n3", "a/n4"]


def test_the_history_is_bounded(backend: Any, maps: Any) -> None:
    begin = backend.revision
    last = run(maps.create(draft("x")))
    for i in range(2 * EVENTS):
        last = run(maps.update(last, draft("x", k=str(i))))
    for read in (
        lambda: listed(maps, revision=begin),
        lambda: maps.watch(MAPS, EVERYTHING, "json", begin, 1, False),
    ):
        with pytest.raises(Expired) as gone:
            read()
        assert gone.value.asked == begin < gone.value.oldest <= last.revision
    assert listed(maps) == ["a/x"]


def test_a_watch_tells_what_happens_after_its_revision(maps: Any) -> None:
    x = run(maps.create(draft("x")))
    watcher = maps.watch(MAPS, EVERYTHING, "json", x.revision, 1, False)
    assert seen(watcher) == []
    new = run(maps.update(x, draft("x", k="1")))
    gone = run(maps.delete(new))
    assert seen(watcher) == [("MODIFIED", "x", new.revision), ("DELETED", "x", gone.revision)]
    assert seen(watcher) == []
    again = maps.watch(MAPS, EVERYTHING, "json", new.revision, 2, False)
    assert seen(again) == [("DELETED", "x", gone.revision)]


def test_a_watch_without_a_revision_begins_with_the_state(backend: Any, maps: Any) -> None:
    x = run(maps.create(draft("x")))
    watcher = maps.watch(MAPS, EVERYTHING, "json", None, 1, False)
    y = run(maps.create(draft("y")))
    assert seen(watcher) == [("ADDED", "x", x.revision), ("ADDED", "y", y.revision)]
    mark = json.loads(watcher.bookmark(False))
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["resourceVersion"] == str(backend.revision)


def test_objects_enter_and_leave_a_selection(maps: Any) -> None:
    watcher = maps.watch(MAPS, Selector(MAPS, "", "l=1", ""), "json", None, 1, False)
    x = run(maps.create(draft("x")))
    entered = run(maps.update(x, draft("x", labels={"l": "1"})))
    stayed = run(maps.update(entered, draft("x", labels={"l": "1"}, k="1")))
    left = run(maps.update(stayed, draft("x", labels={"l": "2"})))
    run(maps.delete(left))
    assert seen(watcher) == [
        ("ADDED", "x", entered.revision),
        ("MODIFIED", "x", stayed.revision),
        ("DELETED", "x", left.revision),
    ]


def test_only_those_are_woken_whom_a_write_concerns(backend: Any, maps: Any) -> None:
    watchers = {
        1: Selector(MAPS, "a", "", ""),
        2: Selector(MAPS, "b", "", ""),
        3: Selector(MAPS, "a", "", "metadata.name=x"),
        4: Selector(MAPS, "a", "", "metadata.name=y"),
        5: EVERYTHING,
    }
    kept = [maps.watch(MAPS, s, "json", backend.revision, token, False) for token, s in watchers.items()]
    run(maps.create(draft("x")))
    assert sorted(backend.take_woken()) == [1, 3, 5]
    assert backend.take_woken() == []
    assert maps.size()[0] == 1
    assert maps.size()[2] == len(kept)
