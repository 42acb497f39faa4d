"""The cost of a server in tests: start, reset, snapshot, restore, memory. Counted results are checked."""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvloop

from hydrofoil import Server
from hydrofoil.testing.core import Core

ROUNDS = 15
OBJECTS = 100_000
CHANGED = 1_000
SAVED = 10_000


def resident() -> float:
    """Return the resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def shown(name: str, seconds: list[float]) -> None:
    """Print the least and the median of some times."""
    sys.stdout.write(
        f"{name:45} {min(seconds) * 1e3:9.3f} ms at best, {statistics.median(seconds) * 1e3:9.3f} median\n"
    )


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds that work takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


async def starts() -> None:
    """Measure further servers in a loop, and their memory."""
    async with Server():
        pass
    found = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        server = await Server().start()
        found.append(time.perf_counter() - begun)
        await server.stop()
    shown("start in the loop, after the first", found)
    gc.collect()
    before = resident()
    servers = [await Server().start() for _ in range(20)]
    gc.collect()
    sys.stdout.write(f"{'memory of one of 20 more':45} {(resident() - before) / 20:9.2f} MB\n")
    for server in servers:
        await server.stop()


async def fill(core: Core, count: int) -> None:
    """Store config maps of 1 KB."""
    registry = core.running.app.core.registry
    resource = registry.catalog.find("", "v1", "configmaps")
    assert resource is not None
    collection = registry.collection(resource)
    for n in range(count):
        name = f"m{n:06}"
        body = {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"name": name, "namespace": "default"},
            "data": {"a": "x" * 900},
        }
        draft, _ = resource.native.decode(json.dumps(body).encode(), "json")
        draft.fill_metadata(core.clock.native, name, core.chance.uid())
        await collection.create(draft)


async def loads() -> None:
    """Measure servers that start with a saved state."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        async with Server() as server:
            await fill(server.core, SAVED)
            server.snapshot().save(path)
        found = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            server = await Server(snapshot=path).start()
            found.append(time.perf_counter() - begun)
            async with server.session() as session, session.get("/api/v1/configmaps", params={"limit": "1"}) as answer:
                assert (await answer.json())["metadata"]["remainingItemCount"] >= SAVED - 1
            await server.stop()
        shown(f"start with a saved state of {SAVED:,} objects", found)


async def change(core: Core, names: range) -> None:
    """Change some of them."""
    registry = core.running.app.core.registry
    resource = registry.catalog.find("", "v1", "configmaps")
    assert resource is not None
    collection = registry.collection(resource)
    for n in names:
        old = registry.get(resource, "default", f"m{n:06}")
        draft = old.thaw()
        draft.set(["data", "a"], b'"y"')
        await collection.update(old, draft)


async def states() -> None:
    """Measure snapshots and restores among many objects."""
    async with Server() as server:
        core = server.core
        await fill(core, OBJECTS)
        before = server.snapshot()
        shown(f"snapshot of {OBJECTS:,} objects", [timed(server.snapshot) for _ in range(ROUNDS)])
        for name, names in (("adjacent", range(CHANGED)), ("one in each leaf", range(0, OBJECTS, OBJECTS // CHANGED))):
            found = []
            for _ in range(5):
                await change(core, names)
                begun = time.perf_counter()
                assert core.restore(before.number_for(server.caller)) == CHANGED
                found.append(time.perf_counter() - begun)
            shown(f"restore of {CHANGED:,} changed, {name}", found)


def resets() -> None:
    """Measure the share of the plug-in in a test: the state taken before it, and the return to it."""
    with Server.in_thread() as server:
        found = []
        for _ in range(200):
            begun = time.perf_counter()
            number, _ = server.caller.call("begin_test")
            server.caller.call("end_test", number)
            found.append(time.perf_counter() - begun)
            server.caller.call("drop_snapshot", number)
        shown("begin and end of an empty test", found)
        shown("reset", [timed(server.reset) for _ in range(100)])
    shown("start and stop in a thread", [timed(_threaded) for _ in range(5)])
    shown("start and stop as a process", [timed(_processed) for _ in range(5)])


def _threaded() -> None:
    with Server.in_thread():
        pass


def _processed() -> None:
    with Server.in_process():
        pass


def main() -> None:
    """Print all figures."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(starts())
        runner.run(loads())
        runner.run(states())
    resets()


if __name__ == "__main__":
    main()
