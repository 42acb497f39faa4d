"""The hub: few woken streams are served at once, many at the end of a turn, and each for itself."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from hydrofoil.clock import Clock
from hydrofoil.pace.sizes import WATCHERS_AT_ONCE
from hydrofoil.pace.turn import current_turn
from hydrofoil.watch.hub import Hub


class Woken:
    """A storage whose watchers were woken."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.is_awaited = True

    def subscribe(self, wake: Any) -> None:
        """The tests wake the hub themselves."""

    def take_woken(self) -> list[int]:
        """Return the tokens of woken watchers."""
        tokens, self.tokens = self.tokens, []
        return tokens


class Stream:
    """Counts what it is asked for."""

    def __init__(self, *, urgent: bool = True, subject: tuple[str, str] | None = None, fails: bool = False) -> None:
        self.urgent = urgent
        self.subject = subject
        self.fails = fails
        self.calls: list[str] = []

    def pump(self) -> None:
        """Give what waits."""
        self.calls.append("pump")
        if self.fails:
            raise RuntimeError("a stream")

    def bookmark(self) -> None:
        """Send a bookmark."""
        self.calls.append("bookmark")

    def cut(self) -> None:
        """End after the last events."""
        self.calls.append("cut")

    def end(self) -> None:
        """End."""
        self.calls.append("end")


@pytest.fixture
def woken() -> Woken:
    return Woken()


@pytest.fixture
async def hub(woken: Woken) -> Hub:
    return Hub(cast(Any, woken), Clock())


def streams(hub: Hub, count: int, **options: Any) -> list[Stream]:
    """Streams of a hub."""
    made = [Stream(**options) for _ in range(count)]
    for stream in made:
        hub.add(hub.token(), stream)
    return made


async def test_few_are_served_before_the_write_is_answered(hub: Hub, woken: Woken) -> None:
    made = streams(hub, WATCHERS_AT_ONCE)
    woken.tokens = list(range(1, WATCHERS_AT_ONCE + 1))
    hub.wake()
    assert all(stream.calls == ["pump"] for stream in made)


async def test_one_that_fails_is_served_again_later(hub: Hub, woken: Woken, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its watcher was not drained, so nothing would wake it."""
    monkeypatch.setattr("hydrofoil.watch.hub.RETRY_SECONDS", 0.0)
    failing, other = streams(hub, 1, fails=True) + streams(hub, 1)
    woken.tokens = [1, 2]
    hub.wake()
    assert failing.calls == ["pump"] and other.calls == ["pump"]
    failing.fails = False
    async with asyncio.timeout(30):
        while len(failing.calls) < 2:
            await asyncio.sleep(0)
    assert other.calls == ["pump"]


async def test_many_are_served_at_the_end_of_the_turn(hub: Hub, woken: Woken) -> None:
    made = streams(hub, WATCHERS_AT_ONCE + 1)
    woken.tokens = list(range(1, WATCHERS_AT_ONCE + 2))
    hub.wake()
    assert not any(stream.calls for stream in made)
    assert not hub.idle
    await asyncio.sleep(0)
    assert all(stream.calls == ["pump"] for stream in made)
    assert hub.idle


async def test_those_who_wait_for_delivery_continue_after_the_last_stream(hub: Hub, woken: Woken) -> None:
    made = streams(hub, 3, urgent=False)
    await hub.delivered()
    woken.tokens = [1, 2, 3]
    hub.wake()
    waiting = [asyncio.ensure_future(hub.delivered()) for _ in range(2)]
    async with asyncio.timeout(30):
        await asyncio.gather(*waiting)
    assert all(stream.calls == ["pump"] for stream in made) and hub.idle


async def test_what_watchers_take_of_a_turn_is_not_time_of_requests(
    hub: Hub, woken: Woken, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent: list[float] = []
    monkeypatch.setattr(current_turn(), "set_aside", spent.append)
    streams(hub, WATCHERS_AT_ONCE + 1)
    woken.tokens = list(range(1, WATCHERS_AT_ONCE + 2))
    hub.wake()
    assert not spent
    await asyncio.sleep(0)
    assert len(spent) == 1 and spent[0] > 0


async def test_a_stream_that_is_not_urgent_waits_for_its_turn(hub: Hub, woken: Woken) -> None:
    (made,) = streams(hub, 1, urgent=False)
    woken.tokens = [1]
    hub.wake()
    assert made.calls == []
    await asyncio.sleep(0)
    assert made.calls == ["pump"]


async def test_a_write_that_no_client_awaits_is_sent_at_the_end_of_the_turn(hub: Hub, woken: Woken) -> None:
    (made,) = streams(hub, 1)
    woken.tokens, woken.is_awaited = [1], False
    hub.wake()
    assert made.calls == []
    await asyncio.sleep(0)
    assert made.calls == ["pump"]


async def test_a_fault_stays_with_its_stream(hub: Hub, woken: Woken, caplog: pytest.LogCaptureFixture) -> None:
    (failing,) = streams(hub, 1, fails=True)
    (other,) = streams(hub, 1)
    woken.tokens = [1, 2, 99]
    hub.wake()
    assert (failing.calls, other.calls) == (["pump"], ["pump"])
    assert "a watch failed" in caplog.text


async def test_another_thread_wakes_the_loop(hub: Hub, woken: Woken) -> None:
    (made,) = streams(hub, 1)
    woken.tokens = [1]
    await asyncio.to_thread(hub.wake)
    await asyncio.sleep(0)
    assert made.calls == ["pump"]


async def test_only_streams_of_a_collection_are_cut(hub: Hub) -> None:
    (one,), (two,) = streams(hub, 1, subject=("e.com", "a")), streams(hub, 1, subject=("e.com", "b"))
    hub.cut(("e.com", "a"))
    assert (one.calls, two.calls) == (["cut"], [])


async def test_the_end_ends_every_stream(hub: Hub) -> None:
    made = streams(hub, 3)
    hub.close()
    assert hub.closing and all(stream.calls == ["end"] for stream in made)
