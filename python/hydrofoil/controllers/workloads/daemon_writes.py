"""The writes of pods of a daemon set (`pkg/controller/daemon/daemon_controller.go`, syncNodes)."""

from __future__ import annotations

from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.pod_control import PodControl, is_namespace_terminating
from hydrofoil.controllers.runtime.expectations import Expectations
from hydrofoil.controllers.slow_start import run_batch, slow_start
from hydrofoil.controllers.workloads.daemon_nodes import DaemonPlan
from hydrofoil.controllers.workloads.daemon_pods import DaemonTemplate
from hydrofoil.errors import ApiError

BURST = 250
"""The most pods that are created or deleted before their events are awaited (`BurstReplicas`)."""


class DaemonWrites:
    """Create and delete pods of a set, and expect to see that."""

    def __init__(self, control: PodControl, expectations: Expectations, owner: Owner, template: DaemonTemplate) -> None:
        self._control = control
        self._expectations = expectations
        self._owner = owner
        self._template = template
        self._key = f"{owner.metadata.namespace}/{owner.metadata.name}"

    async def apply(self, plan: DaemonPlan) -> None:
        """Make the pods of a plan come and go, the former first. Raise the first ApiError."""
        nodes, names = plan.create[:BURST], plan.delete[:BURST]
        self._expectations.expect(self._key, len(nodes), len(names))

        async def create(number: int) -> None:
            try:
                await self._control.create(self._owner, self._template.pod(nodes[number]))
            except ApiError as e:
                # Any further one would fail, and the set itself goes soon.
                if not is_namespace_terminating(e):
                    raise

        async def delete(number: int) -> None:
            try:
                await self._control.delete_pod(self._owner, names[number])
            except ApiError as e:
                self._expectations.deletion_observed(self._key)
                if e.code != 404:
                    raise

        try:
            created = await slow_start(len(nodes), create)
            self._expectations.lower(self._key, creations=len(nodes) - created.successes)
            deleted = await run_batch(len(names), delete)
        except BaseException:
            # It is unknown which of them will be observed.
            self._expectations.delete(self._key)
            raise
        if (failure := created.failure or deleted.failure) is not None:
            raise failure
