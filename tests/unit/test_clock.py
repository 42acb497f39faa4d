"""Time and chance, and that nothing else reads or draws them."""

from __future__ import annotations

import ast
import asyncio
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import hydrofoil
from hydrofoil.clock import EPOCH, LETTERS, Chance, Clock

PACKAGE = Path(hydrofoil.__file__).parent
LOOP = {"call_later", "call_at"}
WAITS = {"sleep", "timeout", "timeout_at", "wait_for", "wait"}
ALLOWED = {
    "admission/webhooks/calls.py": "the timeout of a webhook",
    "clock.py": "the clock itself",
    "cli/etcd.py": "sockets",
    "endpoints/context.py": "the deadline of a request",
    "endpoints/filters/audit.py": "the patience of a request with the delivery of its record",
    "controllers/runtime/batch_period.py": "the patience of controllers with each other",
    "controllers/leader.py": "the deadline of a renewal",
    "controls/waiting.py": "the patience of a test",
    "endpoints/filters/deadline.py": "the deadline of a request",
    "controls/fault.py": "a delay that a test asks for",
    "endpoints/handlers/delete.py": "the deadline of a request",
    "endpoints/handlers/watch.py": "a socket whose reader has left",
    "endpoints/connection.py": "sockets",
    "endpoints/tls.py": "sockets",
    "endpoints/wire.py": "sockets",
    "fairness/dispatcher.py": "seats that other processes give back",
    "outbound/proxy.py": "the deadline of a request",
    "server/controllers.py": "the patience of a test",
    "server/workers/connections.py": "sockets",
    "server/workers/crew.py": "processes",
    "server/gateway/client.py": "sockets, and the deadline of a request",
    "server/gateway/passing.py": "the deadline of a request",
    "server/parts/front.py": "sockets that are still open at the end",
    "outbound/upgrade.py": "sockets",
    "testing/transport.py": "sockets",
    "storage/storage.py": "the writes of other processes",
    "storage/upstream/feed.py": "sockets that an outage has left silent",
    "storage/collection.py": "the patience of a read with a feed, which is part of a request",
}
"""Modules that use the loop's time, and the calls they use."""


def test_uids_are_uuids_of_version_4() -> None:
    chance = Chance()
    made = {chance.uid() for _ in range(1000)}
    assert len(made) == 1000
    assert all(str(uuid.UUID(uid)) == uid and uuid.UUID(uid).version == 4 for uid in made)
    assert {uuid.UUID(uid).variant for uid in made} == {uuid.RFC_4122}


def test_chance_repeats_with_a_seed() -> None:
    one, two = Chance(7), Chance(7)
    for _ in range(10):
        assert (one.uid(), one.letters(5), one.below(9)) == (two.uid(), two.letters(5), two.below(9))
    assert Chance().uid() != Chance().uid()


def test_numbers_and_letters_are_within_bounds() -> None:
    chance = Chance(1)
    assert {chance.below(3) for _ in range(100)} == {0, 1, 2}
    assert set(chance.letters(5000)) == set(LETTERS)
    assert all(1.0 <= chance.between(1.0, 2.0) <= 2.0 for _ in range(100))


def test_one_moment_in_all_forms() -> None:
    clock = Clock()
    now = clock.now()
    assert abs((now - EPOCH).total_seconds() - clock.seconds()) < 5
    assert clock.text()[:14] >= now.strftime("%Y-%m-%dT%H:")


def test_an_event_comes_or_a_time_passes() -> None:
    async def waited() -> tuple[bool, bool]:
        clock, came = Clock(), asyncio.Event()
        before = await clock.machine.wait(came, 0.0)
        came.set()
        return before, await clock.machine.wait(came, 60.0)

    assert asyncio.run(waited()) == (False, True)


def test_a_token_fits_into_a_url_and_repeats_with_a_seed() -> None:
    made = Chance(3).token(16)
    assert made == Chance(3).token(16) and len(made) == 22
    assert made.replace("-", "").replace("_", "").isalnum()


async def test_calls_run_when_the_clock_is_advanced_to_their_times() -> None:
    clock, ran = Clock(), list[tuple[str, float]]()
    clock.freeze(datetime(2026, 1, 1, tzinfo=UTC))

    def note(name: str) -> None:
        ran.append((name, (clock.now() - datetime(2026, 1, 1, tzinfo=UTC)).total_seconds()))

    def repeated() -> None:
        note("repeated")
        clock.later(2, repeated)

    clock.later(3, lambda: note("late"))
    clock.later(2, repeated)
    cancelled = clock.later(1, lambda: note("cancelled"))
    cancelled.cancel()
    clock.advance(4_500_000_000)
    assert ran == [("repeated", 2.0), ("late", 3.0), ("repeated", 4.0)]
    assert clock.now() == datetime(2026, 1, 1, 0, 0, 4, 500000, tzinfo=UTC)
    assert len(clock.timers) == 1


async def test_a_moved_clock_stops_at_each_moment_at_which_something_was_due() -> None:
    clock, stops = Clock(), list[float]()
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    clock.freeze(begin)
    for due in (1, 1, 3):
        clock.later(due, lambda: None)
    clock.later(2, lambda: None).cancel()
    # Two of one time, the second of which the first one cancels: that is a moment all the same.
    second = [clock.later(4, lambda: second.pop().cancel()), clock.later(4, lambda: None)]
    for _ in clock.moments(10 * 10**9):
        stops.append((clock.now() - begin).total_seconds())
        if len(stops) == 1:
            # What work at a moment schedules is reached on the way.
            clock.later(5, lambda: None)
    assert stops == [1, 3, 4, 6]
    assert clock.now() == begin + timedelta(seconds=10)


async def test_a_timer_that_is_due_at_the_end_is_reached_whatever_its_last_bits_are() -> None:
    for number in range(300):
        clock, ran = Clock(), asyncio.Event()

        def begin(clock: Clock = clock, ran: asyncio.Event = ran) -> None:
            clock.later(600.3, ran.set)

        clock.freeze()
        clock.advance(number * 1_234_567_891)
        clock.later(600, begin)
        clock.advance(1_140 * 10**9)
        assert not ran.is_set()
        clock.advance(60_300_000_000)
        assert ran.is_set(), number


async def test_a_clock_that_stands_still_runs_nothing_until_it_runs() -> None:
    clock, ran = Clock(), asyncio.Event()
    clock.later(0.001, ran.set)
    clock.freeze()
    before = clock.now()
    assert not await clock.machine.wait(ran, 0.02), "that is a time of the machine"
    assert clock.now() == before
    clock.run()
    assert await clock.machine.wait(ran, 5)
    assert clock.now() > before


async def test_a_later_moment_is_an_advance_and_an_earlier_one_is_not() -> None:
    clock, ran = Clock(), list[int]()
    clock.later(3600, lambda: ran.append(1))
    clock.freeze(clock.now() - timedelta(days=1))
    assert ran == []
    clock.freeze(clock.now() + timedelta(hours=2))
    assert ran == [1]
    clock.reset()
    assert abs((clock.now() - Clock().now()).total_seconds()) < 5


def test_chance_restarts() -> None:
    chance = Chance(5)
    first = chance.uid()
    chance.restart()
    second = chance.uid()
    chance.restart()
    assert chance.uid() == second != first


def by_the_loop(tree: ast.AST) -> Iterator[str]:
    """Yield the calls that use the loop's time; a turn of it is no time."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name, of = node.func.attr, ast.unparse(node.func.value)
        turn = name == "sleep" and len(node.args) == 1 and ast.unparse(node.args[0]) == "0"
        timed = name != "wait" or any(k.arg == "timeout" for k in node.keywords)
        reads = name == "time" and "loop" in of
        if name in LOOP or reads or (of == "asyncio" and name in WAITS and timed and not turn):
            yield ast.unparse(node)


def test_the_loops_time_is_for_sockets_and_deadlines_of_requests_alone() -> None:
    """Waits and timers that do not use the clock, which the linter cannot see."""
    files = {str(p.relative_to(PACKAGE)): p for p in sorted(PACKAGE.rglob("*.py"))}
    found = {name: calls for name, path in files.items() if (calls := list(by_the_loop(ast.parse(path.read_text()))))}
    assert {name: calls for name, calls in found.items() if name not in ALLOWED} == {}
    assert ALLOWED.keys() - found.keys() == set()


def test_calls_that_go_by_the_loop_are_found() -> None:
    text = """
asyncio.get_running_loop().call_later(1, f)
await asyncio.sleep(pause)
await asyncio.sleep(0)
await clock.machine.sleep(1)
loop.time()
await asyncio.wait(tasks)
await asyncio.wait(tasks, timeout=1)
"""
    tree = compile(text, "", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert [call.partition("(")[2] for call in sorted(by_the_loop(tree))] == [
        ").call_later(1, f)",
        "pause)",
        "tasks, timeout=1)",
        ")",
    ]


def test_a_clock_returns_to_an_earlier_state() -> None:
    clock = Clock()
    untouched = clock.state()
    clock.freeze(datetime(2030, 1, 1, tzinfo=UTC))
    frozen = clock.state()
    clock.advance(10**9)
    clock.run()
    ahead = clock.state()
    clock.return_to(frozen)
    assert clock.now() == datetime(2030, 1, 1, tzinfo=UTC) and clock.native.frozen
    clock.return_to(ahead)
    assert not clock.native.frozen and clock.now().year == 2030
    clock.return_to(untouched)
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=20)
