"""What the controllers of endpoints have in common: they follow services and the pods that those select."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from hydrofoil.controllers.network.service_pods import TriggerTimes, endpoint_differs
from hydrofoil.controllers.objects.meta import LabelSelector
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.services import EXTERNAL_NAME, Service
from hydrofoil.controllers.pod_selections import PodSelections
from hydrofoil.controllers.runtime.batch_period import BatchPeriod
from hydrofoil.controllers.runtime.client import LEAVE_ALONE
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch
from hydrofoil.controllers.runtime.lister import Lister
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.watch.queue import Key

RETRIES = 15
"""How often a service that fails is tried again before it waits for its next change (`maxRetries`)."""


class ServiceController(Controller):
    """Sync each service whose endpoints may have changed; its key is namespace and name."""

    width = 5

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.times = TriggerTimes()
        self._batch = BatchPeriod(runtime, self.queue)

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            self.watch("", "services", Service, self._on_service),
            self.watch("", "pods", Pod, self._on_pod),
        ]

    def start(self) -> None:
        super().start()
        self.services: Lister[Service] = self.lister("", "services", Service)
        self.selections = PodSelections(self.lister("", "pods", Pod))

    def _on_service(self, old: Service | None, new: Service | None) -> None:
        either = old if new is None else new
        assert either is not None
        self.put(either.metadata.namespace, either.metadata.name)

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        before, after = self.selections.apply(old, new)
        if not before and not after:
            return
        if old is None or new is None or endpoint_differs(old, new):
            services = {*before, *after}
        else:
            # It is another pod to those only that it left or came to.
            services = {*before} ^ {*after}
        for service in services:
            self.put(*service)

    async def work(self, key: Key) -> bool:
        """Bring the endpoints of a service in step with its pods."""
        await self._batch.wait()
        namespace, name = key
        service = self.services.get(namespace, name)
        if service is None or not has_endpoints(service):
            self.selections.forget((namespace, name))
        if service is None:
            self.times.forget(namespace, name)
            await self.remove(namespace, name)
            return True
        if not has_endpoints(service) or service.metadata.annotations.get(LEAVE_ALONE) == "true":
            return True
        pods = await self.selections.select((namespace, name), LabelSelector(service.spec.selector or {}))
        # The state of the times is kept also where nothing is written.
        time = self.times.update(service, pods)
        return await self.sync(service, pods, time) or self.queue.failures(key) >= RETRIES

    @abstractmethod
    async def sync(self, service: Service, pods: list[Pod], time: str) -> bool:
        """Write the endpoints of a service for its pods; `time` is what triggered the change, or empty."""

    async def remove(self, namespace: str, name: str) -> None:
        """Remove what is left of a service that is gone."""


def has_endpoints(service: Service) -> bool:
    """Report whether controllers make the endpoints of a service: it selects pods."""
    return service.spec.type != EXTERNAL_NAME and service.spec.selector is not None
