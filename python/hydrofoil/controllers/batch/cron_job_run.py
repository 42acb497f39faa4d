"""One look at a cron job (`pkg/controller/cronjob/cronjob_controllerv2.go`, syncCronJob)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from email.utils import format_datetime

import msgspec
import orjson
from msgspec.structs import replace

from hydrofoil import errors
from hydrofoil.controllers.batch.cron_schedule import Schedule
from hydrofoil.controllers.batch.missed_schedules import MANY, UnusableSchedule, recent_schedule, seconds_to_next
from hydrofoil.controllers.batch.schedules import Schedules
from hydrofoil.controllers.objects.cron_jobs import FORBID, REPLACE, CronJob, CronJobStatus
from hydrofoil.controllers.objects.endpoints import ObjectReference
from hydrofoil.controllers.objects.jobs import COMPLETE, Job
from hydrofoil.controllers.objects.times import format_time, parse_time
from hydrofoil.controllers.pod_control import is_namespace_terminating
from hydrofoil.controllers.runtime.client import Client
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING, EventRecorder
from hydrofoil.engine import Stored
from hydrofoil.errors import ApiError
from hydrofoil.go_text import quote
from hydrofoil.registry.objects import Objects

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
"""The annotation of a job with the moment that it was made for."""
FORBIDDEN = "Not starting job because prior execution is running and concurrency policy is Forbid"
UNOFFICIAL = (
    "CRON_TZ or TZ used in schedule {} is not officially supported, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


def format_schedule(cron_job: CronJob) -> str:
    """Return the schedule with its time zone (`formatSchedule`)."""
    spec = cron_job.spec
    if "TZ" in spec.schedule or spec.time_zone is None:
        return spec.schedule
    return f"TZ={spec.time_zone} {spec.schedule}"


def job_name(cron_job: CronJob, moment: int) -> str:
    """Return the name of the job of a moment: there is one at most, whoever makes it."""
    return f"{cron_job.metadata.name}-{moment // 60}"


def job_of(cron_job: CronJob, moment: int, zone: tzinfo) -> bytes:
    """Return the job of a moment, as JSON; its annotation has the time in a zone (`getJobFromTemplate2`)."""
    template, meta = cron_job.spec.job_template, cron_job.metadata
    local = datetime.fromtimestamp(moment, zone).isoformat()
    annotations = {**(template.metadata.get("annotations") or {}), SCHEDULED: local.replace("+00:00", "Z")}
    metadata = {
        "name": job_name(cron_job, moment),
        "labels": template.metadata.get("labels") or {},
        "annotations": annotations,
        "ownerReferences": [meta.owned_by("batch/v1", "CronJob")],
    }
    spec = orjson.Fragment(bytes(template.spec))
    return orjson.dumps({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})


def age(job: Job) -> tuple[bool, float, str]:
    """Return what orders jobs, the oldest first (`byJobStartTime`)."""
    start = job.status.start_time
    return start is None, parse_time(start) if start else 0.0, job.metadata.name


class CronJobRun:
    """Remove the jobs of a cron job that are too many, note which are active, and make the one that is due."""

    def __init__(
        self, client: Client, registry: Objects, recorder: EventRecorder, schedules: Schedules, cron_job: CronJob
    ) -> None:
        self._client = client
        self._schedules = schedules
        self._zone: tzinfo = UTC
        self._registry = registry
        self._recorder = recorder
        self._cron_job = cron_job
        self._now = registry.clock.seconds()
        self._decode = msgspec.json.Decoder(CronJob).decode
        jobs = registry.catalog.find("batch", "v1", "jobs")
        if jobs is None:
            raise errors.no_such_resource()
        self._jobs = jobs
        self.status: CronJobStatus = cron_job.status
        """The status as it will be."""
        self.is_dirty = False
        """Whether it has to be written."""

    def _record(self, kind: str, reason: str, message: str) -> None:
        self._recorder.record(self._cron_job.metadata.reference("batch/v1", "CronJob"), kind, reason, message)

    def _is_active(self, uid: str) -> bool:
        return any(one.uid == uid for one in self.status.active)

    def _deactivate(self, uid: str) -> None:
        self.status = replace(self.status, active=tuple(one for one in self.status.active if one.uid != uid))

    def _find(self, plural: str, name: str) -> Stored | None:
        return self._registry.find("batch", plural, self._cron_job.metadata.namespace, name)

    # ---- old jobs

    async def remove_old(self, jobs: Iterable[Job]) -> None:
        """Delete the oldest of the jobs that have ended well, and of the others (`cleanupFinishedJobs`)."""
        spec = self._cron_job.spec
        ended: dict[bool, list[Job]] = {True: [], False: []}
        for job in jobs:
            if (finished := job.finished) is not None:
                ended[finished.type == COMPLETE].append(job)
        limits = ((True, spec.successful_jobs_history_limit), (False, spec.failed_jobs_history_limit))
        for well, limit in limits:
            if limit is not None and len(ended[well]) > limit:
                for job in sorted(ended[well], key=age)[: len(ended[well]) - limit]:
                    await self._delete(job.metadata.name, job.metadata.uid)

    async def _delete(self, name: str, uid: str) -> bool:
        try:
            await self._client.delete(self._jobs, self._cron_job.metadata.namespace, name, policy="Background")
        except ApiError as e:
            self._record(WARNING, "FailedDelete", f"Deleted job: {e.message}")
            return False
        self._deactivate(uid)
        self.is_dirty = True
        self._record(NORMAL, "SuccessfulDelete", f"Deleted job {name}")
        return True

    # ---- the present ones

    def _observe(self, jobs: Iterable[Job]) -> None:
        """Note which jobs have ended, and which are active."""
        uids = set()
        for job in jobs:
            uids.add(job.metadata.uid)
            if job.finished is None:
                if not self._is_active(job.metadata.uid):
                    self._observe_unknown(job)
            else:
                self._observe_end(job)
        for one in self.status.active:
            if one.uid not in uids and self._find("jobs", one.name) is None:
                self._record(NORMAL, "MissingJob", f"Active job went missing: {one.name}")
                self._deactivate(one.uid)
                self.is_dirty = True

    def _observe_unknown(self, job: Job) -> None:
        """Note a job that the status does not have: perhaps a later status does."""
        stored = self._find("cronjobs", self._cron_job.metadata.name)
        if stored is None:
            raise errors.not_found("batch", "cronjobs", self._cron_job.metadata.name)
        fresh = self._decode(stored.json).status
        if any(one.uid == job.metadata.uid for one in fresh.active):
            self.status = fresh
            return
        text = f"Saw a job that the controller did not create or forgot: {job.metadata.name}"
        self._record(WARNING, "UnexpectedJob", text)

    def _observe_end(self, job: Job) -> None:
        finished = job.finished
        assert finished is not None
        if self._is_active(job.metadata.uid):
            self._deactivate(job.metadata.uid)
            self.is_dirty = True
            text = f"Saw completed job: {job.metadata.name}, condition: {finished.type}"
            self._record(NORMAL, "SawCompletedJob", text)
        end, known = job.status.completion_time, self.status.last_successful_time
        if finished.type == COMPLETE and end is not None and (known is None or parse_time(end) > parse_time(known)):
            self.status = replace(self.status, last_successful_time=end)
            self.is_dirty = True

    # ---- the next one

    async def run(self, jobs: Iterable[Job]) -> float | None:
        """Make the job that is due; return the seconds until the next look, None if changes alone are a reason.

        Raise ApiError.
        """
        self._observe(jobs)
        spec = self._cron_job.spec
        if self._cron_job.metadata.is_deleting:
            return None
        try:
            self._zone = await self._schedules.zones.get(spec.time_zone or "UTC")
        except ValueError as e:
            self._record(WARNING, "UnknownTimeZone", f"invalid timeZone: {quote(spec.time_zone or '')}: {e}")
            return None
        if spec.suspend:
            return None
        if "TZ" in spec.schedule:
            self._record(WARNING, "UnsupportedSchedule", UNOFFICIAL.format(quote(spec.schedule)))
        try:
            schedule = await self._schedules.schedules.get(format_schedule(self._cron_job))
        except ValueError as e:
            self._record(WARNING, "UnparseableSchedule", f"unparseable schedule: {quote(spec.schedule)} : {e}")
            return None
        try:
            recent = recent_schedule(self._cron_job, schedule, self._now, to_deadline=True)
        except UnusableSchedule as e:
            self._record(WARNING, "InvalidSchedule", f"invalid schedule: {spec.schedule} : {e}")
            return None
        if recent.latest is not None and recent.missed > MANY:
            text = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
            self._record(WARNING, "TooManyMissedTimes", text)
        if recent.latest is not None and not self._is_passed_over(recent.latest):
            if spec.concurrency_policy == REPLACE:
                await self._replace()
            if not await self._create(recent.latest):
                return None
        return self._next(schedule)

    def _next(self, schedule: Schedule) -> float:
        return seconds_to_next(replace(self._cron_job, status=self.status), schedule, self._now)

    def _is_passed_over(self, moment: int) -> bool:
        """Report whether no job is made for a moment."""
        spec, status = self._cron_job.spec, self.status
        if spec.starting_deadline_seconds is not None and moment + spec.starting_deadline_seconds < self._now:
            text = format_datetime(datetime.fromtimestamp(moment, UTC))
            self._record(WARNING, "MissSchedule", f"Missed scheduled time to start a job: {text}")
            return True
        name, last = job_name(self._cron_job, moment), status.last_schedule_time
        if any(one.name == name for one in status.active) or (last is not None and parse_time(last) == moment):
            return True
        if spec.concurrency_policy == FORBID and status.active:
            self._record(NORMAL, "JobAlreadyActive", FORBIDDEN)
            return True
        return False

    async def _replace(self) -> None:
        """Delete the active jobs. Raise ApiError."""
        for one in self.status.active:
            stored = self._find("jobs", one.name)
            if stored is None:
                error = errors.not_found("batch", "jobs", one.name)
                self._record(WARNING, "FailedGet", f"Get job: {error.message}")
                raise error
            if not await self._delete(stored.name, stored.uid):
                raise ApiError(0, "", f"could not replace job {one.namespace}/{one.name}")

    async def _create(self, moment: int) -> bool:
        """Make the job of a moment; report whether there is a next look. Raise ApiError."""
        namespace, name = self._cron_job.metadata.namespace, job_name(self._cron_job, moment)
        try:
            stored = await self._client.create(self._jobs, namespace, job_of(self._cron_job, moment, self._zone))
        except ApiError as e:
            if e.reason != "AlreadyExists":
                if not is_namespace_terminating(e):
                    self._record(WARNING, "FailedCreate", f"Error creating job: {e.message}")
                raise
            present = self._adopted(name)
            if present is None:
                return False
            stored = present
        else:
            self._record(NORMAL, "SuccessfulCreate", f"Created job {name}")
        reference = ObjectReference("Job", namespace, name, stored.uid, "batch/v1", str(stored.revision))
        active = (*self.status.active, reference)
        self.status = replace(self.status, active=active, last_schedule_time=format_time(moment))
        self.is_dirty = True
        return True

    def _adopted(self, name: str) -> Stored | None:
        """Return a job that exists already, if it is one of this cron job that the status does not have yet."""
        stored = self._find("jobs", name)
        if stored is None:
            raise errors.not_found("batch", "jobs", name)
        owner = msgspec.json.decode(stored.json, type=Job).metadata.controller
        if owner is None or owner.uid != self._cron_job.metadata.uid or self._is_active(stored.uid):
            return None
        return stored
