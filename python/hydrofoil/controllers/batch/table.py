"""The controllers of workloads that end."""

from __future__ import annotations

from hydrofoil.controllers.batch.cron_job import CronJobController
from hydrofoil.controllers.batch.job import JobController
from hydrofoil.controllers.batch.ttl_after_finished import TtlAfterFinishedController
from hydrofoil.controllers.descriptor import Descriptor, describe

DESCRIPTORS: tuple[Descriptor, ...] = (
    describe(JobController),
    describe(CronJobController),
    describe(TtlAfterFinishedController),
)
"""In the order in which they start."""
