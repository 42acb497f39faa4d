"""Cron jobs (`staging/src/k8s.io/api/batch/v1`)."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from hydrofoil.controllers.objects.endpoints import ObjectReference
from hydrofoil.controllers.objects.meta import ObjectMeta

ALLOW, FORBID, REPLACE = "Allow", "Forbid", "Replace"


class JobTemplate(Struct, frozen=True):
    """A template of jobs. Its parts are as they are stored."""

    metadata: dict[str, Any] = {}
    spec: Raw = Raw(b"{}")


class CronJobSpec(Struct, frozen=True, rename="camel"):
    """What is wanted."""

    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: str = ALLOW
    suspend: bool = False
    job_template: JobTemplate = JobTemplate()
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None


class CronJobStatus(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What is known of the jobs."""

    active: tuple[ObjectReference, ...] = ()
    last_schedule_time: str | None = None
    last_successful_time: str | None = None


class CronJob(Struct, frozen=True):
    """A cron job."""

    metadata: ObjectMeta
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()
