"""What the controllers of workloads have in common."""

from __future__ import annotations

import logging
from abc import abstractmethod

from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.runtime.client import LEAVE_ALONE, LeftAlone
from hydrofoil.controllers.runtime.controller import Controller
from hydrofoil.errors import ApiError
from hydrofoil.watch.queue import Key

CONFLICT = 409
LOG = logging.getLogger("hydrofoil")


class WorkloadController(Controller):
    """A controller whose keys are namespaces and names of workloads.

    A refusal by the API ends the work on a key, which is tried again: most are conflicts with other writes, whose
    events queue the key anyway.
    """

    async def work(self, key: Key) -> bool:
        """Bring a workload in step with its objects."""
        self.catch_up()
        namespace, name = key
        try:
            return await self.sync(namespace, name)
        except ApiError as e:
            LOG.debug("%s: %s/%s: %s", type(self).__name__, namespace, name, e.message)
            if e.code != CONFLICT:
                self.queue.refuse_key(key)
            return False

    @abstractmethod
    async def sync(self, namespace: str, name: str) -> bool:
        """Process a workload. Return False to process it again after a while, as after an ApiError."""

    def catch_up(self) -> None:
        """Deliver the changes that wait for later turns of the watched resources, this controller's own among them.

        Upstream refuses to look at a workload before its caches have what it wrote itself (`ConsistencyStore`).
        """
        for informer, _ in self._watched.values():
            if informer.waits():
                # Asking for the state delivers them.
                _ = informer.state

    def check(self, meta: ObjectMeta) -> None:
        """Raise LeftAlone for a workload that is left alone: nothing is made for it either, a test does that."""
        if meta.annotations.get(LEAVE_ALONE) == "true":
            raise LeftAlone
        self.client.check(None, meta.namespace)
