"""Many changes are one look, also of those who wait for the end of all work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from hydrofoil.controllers.runtime.batch_period import BatchPeriod
from hydrofoil.controllers.runtime.controller import Controller, Watch
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.engine import Stored
from hydrofoil.watch.queue import Key
from tests.unit.controllers.runtime.clusters import MAPS, change, create, running


@pytest.fixture
async def runtime() -> AsyncIterator[Runtime]:
    async with running() as found:
        yield found


class Changes(Controller):
    """Change each config map ten times, one change after another."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.gate = asyncio.Event()
        self.gate.set()

    def watches(self) -> list[Watch]:
        return [(MAPS, self._on_map)]

    def _on_map(self, old: Stored | None, new: Stored | None) -> None:
        if new is not None:
            self.put(new.name)

    async def work(self, key: Key) -> bool:
        await self.gate.wait()
        stored = self.registry.find("", "configmaps", "a", key[0])
        assert stored is not None
        text = stored.member("data") or b'{"k":"0"}'
        count = int(text[6:-2])
        if count < 10:
            await change(self.runtime, key[0], str(count + 1))
        return True


class Looks(Controller):
    """Look at all maps after each change of one, or less often."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.looks: list[Key] = []
        self.batch = BatchPeriod(runtime, self.queue)

    def watches(self) -> list[Watch]:
        return [(MAPS, self._on_map)]

    def _on_map(self, _: Stored | None, new: Stored | None) -> None:
        if new is not None:
            self.put(new.name)

    async def work(self, key: Key) -> bool:
        await self.batch.wait()
        self.looks.append(key)
        return True


async def test_what_others_do_is_looked_at_in_the_end(runtime: Runtime) -> None:
    changes, looks = Changes(runtime), Looks(runtime)
    changes.start()
    looks.start()
    for name in ("x", "y"):
        await create(runtime, name)
    await runtime.idle()
    # Changes that come during the wait are one look more, which finds nothing new.
    assert set(looks.looks) == {("x",), ("y",)} and len(looks.looks) <= 4
    await create(runtime, "z")
    await runtime.idle()
    assert ("z",) in looks.looks
    await changes.stop()
    await looks.stop()


async def test_others_that_do_not_end_are_not_waited_for(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hydrofoil.controllers.runtime.batch_period.LONGEST", 0.01)
    changes, looks = Changes(runtime), Looks(runtime)
    changes.gate.clear()
    changes.start()
    looks.start()
    await create(runtime, "x")
    while not looks.looks:
        await asyncio.sleep(0)
    changes.gate.set()
    await runtime.idle()
    await changes.stop()
    await looks.stop()


async def test_many_keys_wait_once(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks(runtime)
    looks.start()
    waits: list[int] = []
    quiet = looks.batch._quiet

    async def counted() -> None:
        waits.append(len(looks.looks))
        await quiet()

    monkeypatch.setattr(looks.batch, "_quiet", counted)
    for number in range(50):
        await create(runtime, f"x{number}")
    await runtime.idle()
    assert len(set(looks.looks)) == 50 and len(waits) < 10
    await looks.stop()
