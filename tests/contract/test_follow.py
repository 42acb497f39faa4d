"""The contract of state that follows events, on every log, and that of a queue of keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import pytest

from hydrofoil.clock import Clock, MachineTime
from hydrofoil.engine import Stored
from hydrofoil.pace.pacer import Pacer
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.log import Log
from hydrofoil.storage.storage import Storage
from hydrofoil.watch import follow
from hydrofoil.watch.change_flag import ChangeFlag
from hydrofoil.watch.follow import Followed, Table
from hydrofoil.watch.hub import Hub
from hydrofoil.watch.queue import Key, Queue
from tests.contract.late import LateLog, Truth
from tests.contract.logs import ALL, EVENTS, MAPS, chosen, draft, maps_of, opened


class Seen:
    """A record of all calls."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.reported: list[tuple[str | None, str | None]] = []
        self.replaced = 0
        self.settled = 0
        self.fails = 0

    def replace(self, objects: Iterable[Stored]) -> None:
        self.names = {stored.name for stored in objects}
        self.replaced += 1

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        if self.fails:
            self.fails -= 1
            raise RuntimeError("a state")
        self.reported.append((old and old.json.decode().partition('"data":')[2], new and new.name))
        if new is not None:
            self.names.add(new.name)
        elif old is not None:
            self.names.discard(old.name)

    async def settle(self) -> None:
        self.settled += 1


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


@pytest.fixture
async def hub(storage: Storage) -> Hub:
    return Hub(storage, Clock())


async def test_a_state_begins_with_all_there_is(maps: Collection, hub: Hub) -> None:
    """After a start on full storage, too."""
    for i in range(600):
        await maps.create(draft(f"n{i}"))
    followed = Followed(maps, MAPS, Seen(), hub)
    assert followed.state.names == {f"n{i}" for i in range(600)}
    assert (followed.state.replaced, followed.state.reported) == (1, [])


async def test_reading_it_first_brings_it_up_to_the_view(maps: Collection, hub: Hub) -> None:
    """One's own write is in it: a commit returns when the view shows it."""
    followed = Followed(maps, MAPS, Seen(), hub)
    stored = await maps.create(draft("a", k="1"))
    assert followed.state.names == {"a"}
    stored = await maps.update(stored, draft("a", k="2"))
    await maps.delete(stored)
    assert followed.state.names == set()


async def test_it_is_told_what_was_before_and_what_is_now(maps: Collection, hub: Hub) -> None:
    followed = Followed(maps, MAPS, Seen(), hub)
    assert followed.state.replaced == 1
    stored = await maps.create(draft("a", k="1"))
    await maps.delete(await maps.update(stored, draft("a", k="2")))
    one, two = '{"k":"1"}}', '{"k":"2"}}'
    assert [(old and old.strip(), new) for old, new in followed.state.reported] == [
        (None, "a"),
        (one, "a"),
        (two, None),
    ]


async def test_several_are_asked_at_once_whether_they_have_changed(maps: Collection, hub: Hub) -> None:
    one, other = (Followed(maps, MAPS, Seen(), hub) for _ in range(2))
    gathered = ChangeFlag([one, other])

    def settled() -> bool:
        """Bring both up to the view; report whether nothing has changed since."""
        while gathered.changed():
            assert one.state.names == other.state.names
        return not gathered.changed()

    assert gathered.changed() and settled()
    await maps.create(draft("a"))
    assert gathered.changed() and settled()
    assert one.state.names == {"a"}
    # Changes that the hub has applied meanwhile count as well.
    await maps.create(draft("b"))
    while "b" not in one._state.names:
        await asyncio.sleep(0)
    assert gathered.changed() and settled()
    # A watcher in place of one that was lapped is asked from then on.
    one.watcher = one._watch()
    one._taken()
    await maps.create(draft("c"))
    assert gathered.changed() and settled() and one.state.names == {"a", "b", "c"}


async def test_all_there_is_is_told_again_after_being_lapped(maps: Collection, hub: Hub) -> None:
    followed = Followed(maps, MAPS, Seen(), hub)
    assert followed.state.replaced == 1
    hub.remove(followed.token)
    for i in range(3 * EVENTS):
        await maps.create(draft(f"n{i}"))
    assert followed.state.names == {f"n{i}" for i in range(3 * EVENTS)}
    assert followed.state.replaced == 2


async def test_a_state_that_fails_is_made_anew_from_all_there_is(maps: Collection, hub: Hub) -> None:
    followed = Followed(maps, MAPS, Seen(), hub)
    assert followed.state.replaced == 1
    hub.remove(followed.token)
    followed.state.fails = 1
    await maps.create(draft("a"))
    await maps.create(draft("b"))
    with pytest.raises(RuntimeError):
        _ = followed.state
    assert followed.state.names == {"a", "b"}
    assert followed.state.replaced == 2


async def test_fresh_is_as_the_truth_was_and_settled(maps: Collection, hub: Hub) -> None:
    followed = Followed(maps, MAPS, Seen(), hub)
    await maps.create(draft("a"))
    state = await followed.fresh()
    assert state.names == {"a"}
    assert state.settled == 1


async def test_who_waits_for_a_change_is_called_after_it_was_taken_in(maps: Collection, hub: Hub) -> None:
    followed = Followed(maps, MAPS, Seen(), hub)
    known: list[set[str]] = []
    called = asyncio.Event()

    def call() -> None:
        known.append(set(followed.state.names))
        called.set()

    followed.on_change(call)
    await maps.create(draft("a"))
    await maps.create(draft("b"))
    while not known or known[-1] != {"a", "b"}:
        async with asyncio.timeout(30):
            await called.wait()
        called.clear()


async def test_who_waits_for_a_change_is_called_also_when_somebody_read_it_first(maps: Collection, hub: Hub) -> None:
    followed = Followed(maps, MAPS, Seen(), hub)
    assert followed.state.names == set()
    reported = asyncio.Event()
    followed.on_change(reported.set)
    await maps.create(draft("a"))
    assert followed.state.names == {"a"}
    async with asyncio.timeout(30):
        await reported.wait()


async def test_a_state_that_reads_itself_while_it_changes_is_told_in_order(
    maps: Collection, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "BATCH", 2)

    class Reading(Seen):
        def apply(self, old: Stored | None, new: Stored | None) -> None:
            super().apply(old, new)
            assert followed.state is self

    followed: Followed[Seen] = Followed(maps, MAPS, Reading(), hub)
    assert followed.state.reported == []
    hub.remove(followed.token)
    names = [f"n{i}" for i in range(6)]
    for name in names:
        await maps.create(draft(name))
    assert [new for _, new in followed.state.reported] == names


async def test_what_is_loaded_later_is_in_the_state() -> None:
    truth = Truth()
    async with opened(LateLog(truth)) as one:
        await maps_of(one).create(draft("a"))
        other = Storage(LateLog(truth), Clock())
        await other.open()
        try:
            hub = Hub(other, Clock())
            maps = maps_of(other)
            assert not maps.ready()
            followed = Followed(maps, MAPS, Seen(), hub)
            assert followed.state.names == set()
            assert (await followed.fresh()).names == {"a"}
            await maps_of(one).create(draft("b"))
            assert (await followed.fresh()).names == {"a", "b"}
        finally:
            await other.close()


async def test_a_table_holds_what_was_made_of_each_object(maps: Collection, hub: Hub) -> None:
    followed = Followed(maps, MAPS, Table(lambda stored: stored.revision), hub)
    a = await maps.create(draft("x", "a"))
    b = await maps.create(draft("x", "b"))
    assert followed.state.get("a", "x") == a.revision
    assert followed.state.within("b") == {"x": b.revision}
    changed = await maps.update(a, draft("x", "a", k="1"))
    await maps.delete(b)
    assert followed.state.get("a", "x") == changed.revision
    assert followed.state.get("b", "x") is None
    assert followed.state.within("b") == {}


# Queues


async def test_a_key_is_worked_on_once_at_a_time() -> None:
    running: list[Key] = []
    worst = 0
    gate = asyncio.Event()

    async def work(key: Key) -> bool:
        nonlocal worst
        running.append(key)
        worst = max(worst, running.count(key))
        await gate.wait()
        running.remove(key)
        return True

    queue = Queue("a test", work, Clock(), width=4)
    first = asyncio.ensure_future(queue.done(("a",)))
    other = asyncio.ensure_future(queue.done(("b",)))
    while len(running) < 2:
        await asyncio.sleep(0)
    second = asyncio.ensure_future(queue.done(("a",)))
    await asyncio.sleep(0)
    gate.set()
    async with asyncio.timeout(30):
        await asyncio.gather(first, second, other)
    assert worst == 1
    await queue.close()


async def test_who_asks_while_it_runs_waits_for_the_next_turn() -> None:
    """Changes missed by the present turn are in the next one."""
    state, seen = 1, []
    begun, gate = asyncio.Event(), asyncio.Event()

    async def work(_: Key) -> bool:
        seen.append(state)
        begun.set()
        await gate.wait()
        return True

    queue = Queue("a test", work, Clock())
    first = asyncio.ensure_future(queue.done(("a",)))
    await begun.wait()
    state = 2
    second = asyncio.ensure_future(queue.done(("a",)))
    await asyncio.sleep(0)
    gate.set()
    async with asyncio.timeout(30):
        await asyncio.gather(first, second)
    assert seen == [1, 2]
    await queue.close()


async def test_a_key_that_is_put_when_the_last_was_done_is_worked_on() -> None:
    async def work(_: Key) -> bool:
        return True

    queue = Queue("a test", work, Clock())
    async with asyncio.timeout(30):
        for turns in range(8):
            await queue.done(("a",))
            for _ in range(turns):
                await asyncio.sleep(0)
            await queue.done(("b",))
    await queue.close()


async def test_what_is_not_done_is_worked_on_again() -> None:
    answers = [False, True]
    machine = Soon()

    async def work(_: Key) -> bool:
        return answers.pop(0)

    queue = Queue("a test", work, Clock(machine))
    queue.put(("a",))
    async with asyncio.timeout(30):
        while answers:
            await asyncio.sleep(0)
    assert machine.asked == [1.0]
    await queue.close()


async def test_a_fault_is_told_to_who_waits_and_the_key_stays() -> None:
    faults = [RuntimeError("once")]
    machine = Soon()
    done = asyncio.Event()

    async def work(_: Key) -> bool:
        if faults:
            raise faults.pop()
        done.set()
        return True

    queue = Queue("a test", work, Clock(machine))
    with pytest.raises(RuntimeError, match="once"):
        await queue.done(("a",))
    async with asyncio.timeout(30):
        await done.wait()
    await queue.close()


async def test_work_that_brings_about_more_does_not_wait_for_it() -> None:
    seen: list[Key] = []

    async def work(key: Key) -> bool:
        seen.append(key)
        if key == ("a",):
            await queue.done(("b",))
        return True

    queue = Queue("a test", work, Clock())
    async with asyncio.timeout(30):
        await queue.done(("a",))
        await queue.done(("b",))
    assert seen[:2] == [("a",), ("b",)]
    await queue.close()


async def test_what_a_worker_writes_of_its_own_key_is_its_work() -> None:
    """Waiting for the own key within its work neither hangs nor has it worked on again."""
    runs: list[str] = []

    async def work(key: Key) -> bool:
        runs.append(key[0])
        await queue.done(key)
        return True

    queue = Queue("work", work, Clock())
    await queue.done(("a",))
    await asyncio.sleep(0)
    assert runs == ["a"]
    assert not len(queue)
    await queue.close()


async def test_what_a_worker_left_because_of_a_fault_is_another_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Key] = []
    faults = [RuntimeError("between two keys")]

    async def pause(_: Pacer) -> None:
        if faults:
            raise faults.pop()

    async def work(key: Key) -> bool:
        seen.append(key)
        return True

    monkeypatch.setattr(Pacer, "pause", pause)
    queue = Queue("a test", work, Clock())
    queue.put(("a",))
    async with asyncio.timeout(30):
        await queue.done(("b",))
    assert seen == [("a",), ("b",)]
    assert not faults
    await queue.close()


async def test_nothing_is_left_of_a_queue_that_is_closed() -> None:
    async def work(_: Key) -> bool:
        await asyncio.get_running_loop().create_future()
        return True

    before = asyncio.all_tasks()
    queue = Queue("a test", work, Clock(), width=2)
    waiting = [asyncio.ensure_future(queue.done((name,))) for name in "abc"]
    await asyncio.sleep(0)
    await queue.close()
    assert all(isinstance(e, asyncio.CancelledError) for e in await asyncio.gather(*waiting, return_exceptions=True))
    assert asyncio.all_tasks() == before


class Soon(MachineTime):
    """The time of a machine on which all time has passed."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        self.asked.append(seconds)
        return super().later(0, call)
