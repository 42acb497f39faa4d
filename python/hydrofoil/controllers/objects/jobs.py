"""Jobs (`staging/src/k8s.io/api/batch/v1`)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.controllers.objects.meta import LabelSelector, ObjectMeta, find_condition
from hydrofoil.controllers.objects.templates import PodTemplate

COMPLETE, FAILED, SUSPENDED = "Complete", "Failed", "Suspended"
SUCCESS_CRITERIA_MET, FAILURE_TARGET = "SuccessCriteriaMet", "FailureTarget"
CONTROLLER_NAME = "kubernetes.io/job-controller"
"""The value of `managedBy` that means this controller."""
TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"
"""The finalizer of pods that their job has not counted yet."""


class JobCondition(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A condition of a job."""

    type: str
    status: str
    last_probe_time: str | None = None
    last_transition_time: str | None = None
    reason: str = ""
    message: str = ""


class UncountedTerminatedPods(Struct, frozen=True, omit_defaults=True):
    """The uids of pods that ended, and that the counters do not contain yet."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class JobStatus(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What is known of the pods of a job."""

    conditions: tuple[JobCondition, ...] = ()
    start_time: str | None = None
    completion_time: str | None = None
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    terminating: int | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None
    ready: int | None = None


class ExitCodes(Struct, frozen=True, rename="camel"):
    """A requirement of exit codes."""

    operator: str
    values: tuple[int, ...] = ()
    container_name: str | None = None


class ConditionPattern(Struct, frozen=True):
    """A requirement of a condition."""

    type: str
    status: str = "True"


class PodFailureRule(Struct, frozen=True, rename="camel"):
    """What follows from some failures."""

    action: str
    on_exit_codes: ExitCodes | None = None
    on_pod_conditions: tuple[ConditionPattern, ...] | None = None


class PodFailurePolicy(Struct, frozen=True):
    """Rules, the first of which that fits counts."""

    rules: tuple[PodFailureRule, ...] = ()


class SuccessRule(Struct, frozen=True, rename="camel"):
    """Which indexes make a job succeed, or how many."""

    succeeded_indexes: str | None = None
    succeeded_count: int | None = None


class SuccessPolicy(Struct, frozen=True):
    """Rules, one of which has to be met."""

    rules: tuple[SuccessRule, ...] = ()


class JobSpec(Struct, frozen=True, rename="camel", dict=True):
    """What a job asks for."""

    template: PodTemplate = PodTemplate()
    parallelism: int = 1
    completions: int | None = None
    active_deadline_seconds: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    backoff_limit: int = 6
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    selector: LabelSelector = LabelSelector()
    ttl_seconds_after_finished: int | None = None
    completion_mode: str = "NonIndexed"
    suspend: bool = False
    pod_replacement_policy: str | None = None
    managed_by: str | None = None

    @property
    def is_indexed(self) -> bool:
        """Report whether each completion has an index."""
        return self.completion_mode == "Indexed"

    @property
    def replaces_failed_only(self) -> bool:
        """Report whether pods are replaced once they have ended, and not when their deletion begins."""
        return self.pod_replacement_policy == "Failed" or self.pod_failure_policy is not None

    @cached_property
    def restart_policy(self) -> str:
        """Return the restart policy of the pods."""
        spec: dict[str, Any] = orjson.loads(bytes(self.template.spec))
        return str(spec.get("restartPolicy", ""))


class Job(Struct, frozen=True):
    """A job."""

    metadata: ObjectMeta
    spec: JobSpec
    status: JobStatus = JobStatus()

    def condition(self, kind: str) -> JobCondition | None:
        """Return a condition by its type."""
        return find_condition(self.status.conditions, kind)

    @property
    def finished(self) -> JobCondition | None:
        """Return the condition that says that the job is finished, well or not (`FinishedCondition`)."""
        return next((c for c in self.status.conditions if c.type in (COMPLETE, FAILED) and c.status == "True"), None)

    @property
    def is_external(self) -> bool:
        """Report whether another controller manages the job."""
        return self.spec.managed_by not in (None, CONTROLLER_NAME)


def namespace_of(job: Job) -> tuple[str, ...]:
    """Return the namespace of a job, for an index."""
    return (job.metadata.namespace,)


def controller_of(job: Job) -> tuple[str, ...]:
    """Return the uid of the owner that manages a job, for an index."""
    owner = job.metadata.controller
    return () if owner is None else (owner.uid,)
