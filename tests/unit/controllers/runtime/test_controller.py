"""A controller on the runtime: the example in its docstring, restores, and the end of work."""

from __future__ import annotations

import asyncio
import inspect
import textwrap
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil import errors
from hydrofoil.controllers.runtime.controller import Controller, Watch
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.engine import Stored
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Outdated
from hydrofoil.watch.hub import Hub
from hydrofoil.watch.queue import Key
from tests.unit.controllers.runtime.clusters import MAPS, create, running
from tests.unit.parts import draft, resource

SECRETS = resource("secrets")


@pytest.fixture
async def runtime() -> AsyncIterator[Runtime]:
    async with running() as found:
        yield found


class Copies(Controller):
    """Keep a secret for each config map, with a config map in between for each of them."""

    name = "copies"

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.worked: list[Key] = []
        self.outdated = 0
        self.gate = asyncio.Event()
        self.gate.set()

    def watches(self) -> list[Watch]:
        return [(MAPS, self._on_map)]

    def _on_map(self, _: Stored | None, new: Stored | None) -> None:
        if new is not None:
            self.put(new.name)

    async def work(self, key: Key) -> bool:
        self.worked.append(key)
        await self.gate.wait()
        if self.outdated:
            self.outdated -= 1
            raise Outdated
        made = draft(SECRETS, {"metadata": {"name": key[0], "namespace": "a"}})
        await self.registry.create(SECRETS, "a", made, self.write(SECRETS, "a"))
        if len(key[0]) < 5:
            await create(self.runtime, f"{key[0]}x")
        return True

    def names(self) -> list[str]:
        return [stored.name for stored in self.registry.all(SECRETS)]


async def test_the_example_runs(runtime: Runtime) -> None:
    text = inspect.getdoc(Controller) or ""
    begin = text.index("    class Greeter")
    names: dict[str, Any] = {"Controller": Controller}
    exec(textwrap.dedent(text[begin : text.index("\n`start`")]), names)
    greeter = names["Greeter"](runtime)
    greeter.start()
    namespaces = resource("namespaces")
    await runtime.registry.create(namespaces, "", draft(namespaces, {"metadata": {"name": "a"}}), Write())
    await runtime.idle()
    found = runtime.registry.find("", "configmaps", "a", "greeting")
    assert found is not None and b'"hello":"world"' in found.json
    await greeter.stop()


async def test_work_that_makes_more_work_is_waited_for(runtime: Runtime) -> None:
    """Each write wakes the informer, whose event queues the next key."""
    copies = Copies(runtime)
    copies.start()
    await create(runtime, "x")
    await runtime.idle()
    assert copies.names() == ["x", "xx", "xxx", "xxxx", "xxxxx"]
    await copies.stop()
    assert not len(runtime.hub)


async def test_work_that_waits_is_waited_for(runtime: Runtime) -> None:
    copies = Copies(runtime)
    copies.gate.clear()
    copies.start()
    await create(runtime, "xxxxx")
    idle = asyncio.ensure_future(runtime.idle())
    while not copies.worked:
        await asyncio.sleep(0)
    for _ in range(100):
        await asyncio.sleep(0)
    assert not idle.done() and not runtime.is_idle
    copies.gate.set()
    async with asyncio.timeout(30):
        await idle
    assert copies.names() == ["xxxxx"]
    await copies.stop()


async def test_work_begins_with_all_objects_of_the_start(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller that saw some of its objects would make the others once more."""
    # Each turn delivers one batch of them.
    monkeypatch.setattr(Hub, "slice", 0.0)
    for number in range(200):
        await create(runtime, f"long-{number}")
    known: list[int] = []

    class Counts(Copies):
        async def work(self, key: Key) -> bool:
            known.append(len(self.informer(MAPS).objects))
            return True

    counts = Counts(runtime)
    counts.start()
    await runtime.idle()
    assert len(known) == 200 and set(known) == {200}
    await counts.stop()


async def test_a_refused_write_is_repeated_without_a_traceback(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    class Refused(Copies):
        async def work(self, key: Key) -> bool:
            self.worked.append(key)
            if len(self.worked) == 1:
                raise errors.not_found("", "secrets", "x")
            return True

    refused = Refused(runtime)
    refused.start()
    runtime.registry.clock.freeze()
    await create(runtime, "x")
    await runtime.idle()
    runtime.registry.clock.advance(10**9)
    await runtime.idle()
    assert refused.worked == [("x",), ("x",)] and not caplog.records
    await refused.stop()


async def test_a_restore_begins_the_work_on_a_key_anew(runtime: Runtime) -> None:
    copies = Copies(runtime)
    copies.outdated = 1
    copies.start()
    await create(runtime, "xxxxx")
    await runtime.idle()
    assert copies.worked == [("xxxxx",), ("xxxxx",)] and copies.names() == ["xxxxx"]
    await copies.stop()


async def test_a_stopped_controller_watches_nothing(runtime: Runtime) -> None:
    copies = Copies(runtime)
    copies.start()
    await copies.stop()
    copies.discover()
    await create(runtime, "x")
    await runtime.idle()
    assert not copies.worked and not len(runtime.hub)


async def test_many_replicas_leave_the_loop_to_others(runtime: Runtime) -> None:
    """1,000 objects of one controller, which take 20 ms at the very least: others have the loop after each 2 ms."""
    copies = Copies(runtime)
    copies.start()
    for number in range(1000):
        await create(runtime, f"long-{number}")
    turns, idle = 0, asyncio.ensure_future(runtime.idle())
    while not idle.done():
        turns += 1
        await asyncio.sleep(0)
    assert len(copies.names()) == 1000 and turns > 8
    await copies.stop()
