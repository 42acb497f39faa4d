"""The controllers that run in one server: all of them, or those of every server while another one leads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator

from hydrofoil.controllers.descriptor import Dependencies, Descriptor
from hydrofoil.controllers.leader import Leader
from hydrofoil.controllers.options import ControllerOptions
from hydrofoil.controllers.runtime.controller import Controller
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.table import ELECTED, EVERYWHERE, living
from hydrofoil.pace.turn import current_turn

SETTLE_SECONDS = 10.0
"""The time without a processed key after which controllers are no longer waited for: a webhook may not answer them."""
SETTLE_ROUNDS = 12
"""How often that time begins anew, since keys were processed: two controllers may undo each other's writes forever."""


class ControllerManager:
    """Start and stop the controllers of a server."""

    def __init__(
        self,
        options: ControllerOptions,
        deps: Dependencies,
        listeners: list[Callable[[], None]],
        *,
        elects: bool,
        one_by_one: bool,
    ) -> None:
        """Take the functions that are called when resources come or go.

        `elects`: one of several servers runs the controllers. `one_by_one`: each has settled before the next one
        starts; side by side, the first objects of several would get their versions in any order.
        """
        self._options = options
        self._deps = deps
        self.runtime = Runtime(deps.registry, deps.hub, deps.admission)
        self._listeners = listeners
        self._one_by_one = one_by_one
        self.elected: list[Controller] = []
        """Those that this server runs while it leads."""
        self._everywhere: list[Controller] = []
        self._leader = Leader(deps.registry, options, self._lead, self._follow) if elects else None

    def running(self) -> list[Controller]:
        """Return the controllers that run here."""
        return [*self.elected, *self._everywhere]

    async def start(self) -> None:
        """Start what every server runs, and the rest now or when this server is elected."""
        if self._one_by_one:
            current_turn().unbound()
        await self._start(EVERYWHERE, self._everywhere)
        if self._leader is not None:
            self._leader.start()
        else:
            await self._lead()
        if self._options.node_count:
            # The first pods find nodes that are ready.
            await self.settle()

    async def stop(self) -> None:
        """Stop them all; another server may lead from then on."""
        if self._leader is not None:
            await self._leader.stop()
        for controller in self.running():
            await controller.stop()
        self.elected.clear()
        self._everywhere.clear()

    async def settle(self) -> None:
        """Wait until the controllers have processed all writes, except for work that they repeat later."""
        activity = self.runtime.activity
        # What has failed is repeated behind all other work. A request that comes earlier must not change the order: it
        # comes when its client and the machine have time.
        if self.runtime.is_settled():
            return None
        idle = asyncio.create_task(self.runtime.idle(), name="settling")
        try:
            for _ in range(SETTLE_ROUNDS):
                before = activity.keys
                # A machine with much other work may be slow: what counts is that something is done.
                done, _ = await asyncio.wait((idle,), timeout=SETTLE_SECONDS)
                if done:
                    return idle.result()
                if activity.keys == before:
                    return None
        finally:
            idle.cancel()
        return None

    async def _lead(self) -> None:
        await self._start(self._descriptors(), self.elected)

    def _descriptors(self) -> Iterator[Descriptor]:
        """Yield what the one server runs that leads; rooms that no flag names are not loaded."""
        options = self._options
        yield from (d for d in ELECTED if options.controls(d.name))
        if options.lives:
            yield from (d for d in living() if options.controls(d.name))
        if options.schedules:
            from hydrofoil.scheduler.table import SCHEDULER

            yield SCHEDULER
        if options.node_count or options.cluster:
            from hydrofoil.nodes.table import describe_nodes

            yield describe_nodes(options.node_count)

    async def _follow(self) -> None:
        while self.elected:
            controller = self.elected.pop()
            self._listeners.remove(controller.discover)
            await controller.stop()

    async def _start(self, descriptors: Iterable[Descriptor], running: list[Controller]) -> None:
        """Make all before the first one starts: each sees the writes of the others."""
        deps = self._deps
        running += [descriptor.make(self.runtime, deps) for descriptor in descriptors if descriptor.is_needed(deps)]
        # Their number may change meanwhile, when this server is deposed.
        for controller in list(running):
            controller.start()
            self._listeners.append(controller.discover)
            if self._one_by_one:
                await self.settle()
