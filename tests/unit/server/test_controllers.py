"""Settling: the end of the controllers' work, and those that never end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hydrofoil.admission.chain import Chain
from hydrofoil.controllers.options import ControllerOptions
from hydrofoil.controllers.runtime.queue import WorkQueue
from hydrofoil.server import controllers
from hydrofoil.server.controllers import ControllerManager
from hydrofoil.watch.hub import Hub
from hydrofoil.watch.queue import Key
from tests.unit.parts import opened


@pytest.fixture
async def manager() -> AsyncIterator[ControllerManager]:
    async with opened() as registry:
        hub = Hub(registry.storage, registry.clock)
        deps = cast(Any, SimpleNamespace(registry=registry, hub=hub, admission=Chain([])))
        yield ControllerManager(ControllerOptions(), deps, [], elects=False, one_by_one=False)


async def test_work_is_waited_for_as_long_as_there_is_progress(
    manager: ControllerManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine with much other work is slow, and no work is given up because of that."""
    monkeypatch.setattr(controllers, "SETTLE_SECONDS", 0.05)
    seen: list[Key] = []

    async def work(key: Key) -> bool:
        await asyncio.sleep(0.02)
        seen.append(key)
        return True

    activity = manager.runtime.activity
    queue = WorkQueue("slow", work, manager.runtime.registry.clock, activity)
    for name in "abcdef":
        queue.put((name,))
    await manager.settle()
    assert len(seen) == 6 and activity.is_idle
    await queue.close()


async def test_one_that_hangs_is_not_waited_for(manager: ControllerManager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controllers, "SETTLE_SECONDS", 0.01)

    async def work(_: Key) -> bool:
        await asyncio.Event().wait()
        return True

    queue = WorkQueue("hanging", work, manager.runtime.registry.clock, manager.runtime.activity)
    queue.put(("a",))
    async with asyncio.timeout(30):
        await manager.settle()
    assert not manager.runtime.is_idle
    await queue.close()


async def test_two_that_undo_each_other_are_not_waited_for(
    manager: ControllerManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controllers, "SETTLE_SECONDS", 0.01)

    async def work(key: Key) -> bool:
        await asyncio.sleep(0)
        queue.put(key)
        return True

    queue = WorkQueue("endless", work, manager.runtime.registry.clock, manager.runtime.activity)
    queue.put(("a",))
    async with asyncio.timeout(30):
        await manager.settle()
    await queue.close()


async def test_what_has_failed_is_repeated_behind_other_work(manager: ControllerManager) -> None:
    """Whenever a request comes that waits for the controllers: with a seed, the order must not depend on that."""
    order, going = list[str](), asyncio.Event()

    async def work(_: Key) -> bool:
        await going.wait()
        order.append("other work")
        return True

    activity = manager.runtime.activity
    activity.progress = lambda: 1
    activity.park("failed", lambda: order.append("repeated"))
    activity.progress = lambda: 2
    queue = WorkQueue("other", work, manager.runtime.registry.clock, activity)
    queue.put(("a",))
    request = asyncio.ensure_future(manager.settle())
    await asyncio.sleep(0)
    going.set()
    await request
    assert order == ["other work", "repeated"]
    await queue.close()
