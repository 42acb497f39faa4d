"""Cron jobs: jobs by a schedule (`pkg/controller/cronjob/cronjob_controllerv2.go`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.batch.cron_job_run import CronJobRun, format_schedule
from hydrofoil.controllers.batch.missed_schedules import seconds_to_next
from hydrofoil.controllers.batch.schedules import Schedules
from hydrofoil.controllers.objects.cron_jobs import CronJob
from hydrofoil.controllers.objects.jobs import Job
from hydrofoil.controllers.objects.meta import OwnerReference
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.workloads.workload import WorkloadController
from hydrofoil.errors import ApiError
from hydrofoil.watch.queue import Key

COMPONENT = "cronjob-controller"
RESCHEDULE = "schedule"
"""The first part of the keys of cron jobs whose schedule has changed."""


def owner_name(job: Job) -> tuple[str, ...]:
    """Return the namespace and the name of the owner that manages a job in one text, for an index."""
    owner = job.metadata.controller
    return () if owner is None else (f"{job.metadata.namespace}/{owner.name}",)


class CronJobController(WorkloadController):
    """Make the jobs of each cron job at their time, and remove old ones."""

    name = "cronjob"
    user = service_account("cronjob-controller")
    width = 5

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder(COMPONENT, self.user)
        self._schedules = Schedules()

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all_served(catalog, ("batch", "jobs"), ("batch", "cronjobs"))

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            self.watch("batch", "cronjobs", CronJob, self._on_cron_job),
            self.watch("batch", "jobs", Job, self._on_job),
        ]

    def start(self) -> None:
        super().start()
        self._cron_jobs = self.lister("batch", "cronjobs", CronJob)
        self._jobs = self.lister("batch", "jobs", Job)
        self._by_owner = self._jobs.index(owner_name)

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    # ---- events

    def _on_cron_job(self, old: CronJob | None, new: CronJob | None) -> None:
        either = old if new is None else new
        assert either is not None
        key = either.metadata.namespace, either.metadata.name
        if old is None or new is None or format_schedule(old) == format_schedule(new):
            self.put(*key)
            return
        # Another schedule makes no job at once.
        self.put(RESCHEDULE, *key)

    async def work(self, key: Key) -> bool:
        """Look at a cron job, or wait for the next moment of its new schedule."""
        if len(key) == 2:
            return await super().work(key)
        cron_job = self._cron_jobs.get(*key[1:])
        if cron_job is None:
            return True
        try:
            schedule = await self._schedules.schedules.get(format_schedule(cron_job))
        except ValueError:
            text = f"unparseable schedule for cronjob: {cron_job.spec.schedule}"
            about = cron_job.metadata.reference("batch/v1", "CronJob")
            self._recorder.record(about, WARNING, "UnParseableCronJobSchedule", text)
            return True
        self.queue.after(key[1:], seconds_to_next(cron_job, schedule, self.registry.clock.seconds()))
        return True

    def _on_job(self, old: Job | None, new: Job | None) -> None:
        owners = {found.metadata.controller: found.metadata.namespace for found in (old, new) if found is not None}
        for owner, namespace in owners.items():
            cron_job = self._resolve(namespace, owner)
            if cron_job is not None:
                self.put(namespace, cron_job.metadata.name)

    def _resolve(self, namespace: str, owner: OwnerReference | None) -> CronJob | None:
        """Return the cron job that an owner reference names, if it is that one still."""
        if owner is None or owner.kind != "CronJob":
            return None
        found = self._cron_jobs.get(namespace, owner.name)
        return found if found is not None and found.metadata.uid == owner.uid else None

    # ---- work

    async def sync(self, namespace: str, name: str) -> bool:
        """Remove old jobs of a cron job, make the one that is due, and write its status."""
        cron_job = self._cron_jobs.get(namespace, name)
        if cron_job is None:
            return True
        self.check(cron_job.metadata)
        jobs = self._by_owner.get(f"{namespace}/{name}")
        run = CronJobRun(self.client, self.registry, self._recorder, self._schedules, cron_job)
        await run.remove_old(jobs)
        failure: ApiError | None = None
        wait: float | None = None
        try:
            wait = await run.run(jobs)
        except ApiError as e:
            failure = e
        if run.is_dirty:
            value, version = msgspec.to_builtins(run.status), cron_job.metadata.resource_version
            cron_jobs = self.resource("batch", "cronjobs")
            await self.client.update_status(cron_jobs, namespace, name, value, version=version)
        if wait is not None:
            self.queue.after((namespace, name), wait)
        return failure is None
