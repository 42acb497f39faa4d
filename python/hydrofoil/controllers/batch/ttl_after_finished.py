"""Jobs that go some time after their end (`pkg/controller/ttlafterfinished`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.objects.jobs import Job
from hydrofoil.controllers.objects.times import parse_time
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.workloads.workload import WorkloadController
from hydrofoil.errors import ApiError


def expiration(job: Job) -> float | None:
    """Return when a job goes, in seconds since 1970; None if that is not decided (`getFinishAndExpireTime`)."""
    finished, seconds = job.finished, job.spec.ttl_seconds_after_finished
    if job.metadata.is_deleting or seconds is None or finished is None or finished.last_transition_time is None:
        return None
    return parse_time(finished.last_transition_time) + seconds


class TtlAfterFinishedController(WorkloadController):
    """Delete each job that has ended for as long as it says."""

    name = "ttl-after-finished"
    user = service_account("ttl-after-finished-controller")
    width = 5

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all_served(catalog, ("batch", "jobs"))

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [self.watch("batch", "jobs", Job, self._on_job)]

    def start(self) -> None:
        super().start()
        self._jobs = self.lister("batch", "jobs", Job)

    def _on_job(self, _: Job | None, new: Job | None) -> None:
        if new is not None and expiration(new) is not None:
            self.put(new.metadata.namespace, new.metadata.name)

    async def sync(self, namespace: str, name: str) -> bool:
        """Delete a job whose time is over."""
        job = self._jobs.get(namespace, name)
        end = None if job is None else expiration(job)
        if job is None or end is None:
            return True
        left = end - self.registry.clock.seconds()
        if left > 0:
            self.queue.after((namespace, name), left)
            return True
        meta = job.metadata
        try:
            # The time may have been changed since: the version is that of the job that was looked at.
            await self.client.delete(
                self.resource("batch", "jobs"),
                namespace,
                name,
                uid=meta.uid,
                version=meta.resource_version,
                policy="Foreground",
            )
        except ApiError as e:
            if e.code != 404:
                raise
        return True
