"""How changes of many objects become one look at what follows from them (as upstream's `SyncJobBatchPeriod`)."""

from __future__ import annotations

import asyncio

from hydrofoil.controllers.runtime.queue import WorkQueue
from hydrofoil.controllers.runtime.runtime import Runtime

MOST = 500
"""The most keys of others that go first."""
LONGEST = 0.25
"""The most seconds of the machine that are waited: others may wait for a webhook that does not answer."""


class BatchPeriod:
    """Let other controllers go first, as long as they have work.

    What counts the pods of a thousand replicas would be counted anew, and written, after each of them. Upstream waits
    for a second. Here whoever is waited for says when it is done: a single change is counted at once, and those of a
    rollout a few times. No time of the server's clock passes, and whoever waits for the end of all work waits for this
    too.
    """

    def __init__(self, runtime: Runtime, queue: WorkQueue) -> None:
        """Take the queue of the controller that waits."""
        self._runtime = runtime
        self._queue = queue
        self._end: asyncio.Future[None] | None = None
        """The end of the present period, which all workers of the controller share."""
        self._left = 0
        """The keys that were queued at that end: they do not wait, so that many keys need not many periods."""

    async def wait(self) -> None:
        """Wait for the end of a period, before the objects of a key are looked at."""
        if self._left > 0:
            self._left -= 1
            return
        if self._end is not None:
            await asyncio.shield(self._end)
            return
        self._end = end = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(LONGEST):
                await self._quiet()
        except TimeoutError:
            pass
        finally:
            self._end, self._left = None, self._queue.depth
            end.set_result(None)

    async def _quiet(self) -> None:
        """Wait until no other controller has work, and no event is on its way to one."""
        runtime = self._runtime
        activity, hub = runtime.activity, runtime.hub
        end = activity.keys + MOST
        while activity.keys < end:
            await activity.yield_to_others(end - activity.keys)
            if activity.has_others:
                # An event has given work to one of them meanwhile.
                continue
            if not hub.idle:
                await hub.delivered()
                continue
            waiting = runtime.informers.waiting()
            if not waiting:
                return
            for informer in waiting:
                hub.serve(informer.token)
                # Each informer takes up to a whole share of watchers.
                await asyncio.sleep(0)
