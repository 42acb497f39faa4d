"""What the controllers of one server share."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hydrofoil.controllers.runtime.informer import Informers
from hydrofoil.controllers.runtime.writes import Writes
from hydrofoil.registry.store import Registry
from hydrofoil.request import User
from hydrofoil.watch.hub import Hub

if TYPE_CHECKING:
    from hydrofoil.controllers.runtime.recorder import EventRecorder


class Runtime:
    """The informers of a server, and the count of its controllers that have work."""

    def __init__(self, registry: Registry, hub: Hub, writes: Writes) -> None:
        self.registry = registry
        self.hub = hub
        self.writes = writes
        self.activity = registry.activity
        self.informers = Informers(registry, hub)
        self.live_nodes: set[str] = set()
        """The nodes of the server's own that are alive: their leases hold however far a clock jumps."""

    def recorder(self, component: str, user: User) -> EventRecorder:
        """Return a recorder of the events of a component."""
        # Controllers without events start without its modules.
        from hydrofoil.controllers.runtime.recorder import EventRecorder

        return EventRecorder(self.registry, self.writes, self.activity, component, user)

    @property
    def is_idle(self) -> bool:
        """Report whether no queue has a key to process now, of controllers or not, and no event is to be sent."""
        return self.activity.is_idle and self.hub.idle and not self.informers.waiting()

    def is_settled(self) -> bool:
        """Report whether there is no work, nor any that was parked and is possible now, which begins then."""
        if self.is_idle:
            self.activity.repeat()
        return self.is_idle

    async def idle(self) -> None:
        """Wait until no controller has work at the present moment, and every watch has its events.

        Work is in one of three places: in a queue, which `Activity` counts; in the hub, with watchers that wait for a
        later turn; or in the ring of a resource, whose watchers the hub does not know to be woken yet (a feed on
        another thread has signalled them). Each may fill another one, so all three are asked again, after the last
        wait in the same turn.
        """
        while not self.is_settled():
            await self.activity.wait()
            await self.hub.delivered()
            # Those that the hub knows of have their turn there, whether somebody waits here or not.
            for informer in self.informers.waiting() if self.hub.idle else ():
                self.hub.serve(informer.token)
                # Each informer takes up to a whole share of watchers.
                await asyncio.sleep(0)
