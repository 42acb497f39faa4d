"""The state of a job during one look at it, and what follows for its end (`pkg/controller/job/job_controller.go`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from hydrofoil.controllers.batch.backoff import BackoffRecord
from hydrofoil.controllers.batch.intervals import Intervals
from hydrofoil.controllers.batch.job_indexes import (
    has_index,
    indexes_of,
    latest_failures,
    newly_failed,
    newly_succeeded,
)
from hydrofoil.controllers.batch.job_pods import has_finalizer, is_failed, is_terminating
from hydrofoil.controllers.batch.job_policies import match_failure, match_success
from hydrofoil.controllers.objects.jobs import (
    FAILED,
    FAILURE_TARGET,
    SUCCESS_CRITERIA_MET,
    Job,
    JobCondition,
    JobStatus,
    UncountedTerminatedPods,
)
from hydrofoil.controllers.objects.meta import find_condition
from hydrofoil.controllers.objects.pods import PENDING, RUNNING, SUCCEEDED, Pod
from hydrofoil.controllers.objects.times import parse_time
from hydrofoil.pace.pacer import Pacer


class Moment(NamedTuple):
    """The present time."""

    seconds: float
    text: str

    def condition(self, kind: str, reason: str, message: str, status: str = "True") -> JobCondition:
        """Return a condition that begins now."""
        return JobCondition(kind, status, self.text, self.text, reason, message)


def ensure_condition(
    conditions: tuple[JobCondition, ...], wanted: JobCondition
) -> tuple[tuple[JobCondition, ...], bool]:
    """Return conditions with one set, and whether they differ (`ensureJobConditionStatus`); none begins as False."""
    known = find_condition(conditions, wanted.type)
    if known is None:
        return ((*conditions, wanted), True) if wanted.status != "False" else (conditions, False)
    if (known.status, known.reason, known.message) == (wanted.status, wanted.reason, wanted.message):
        return conditions, False
    return tuple(wanted if c is known else c for c in conditions), True


class JobState:
    """The pods of a job, the numbers of them, and the condition by which the job ends (`syncJobCtx`)."""

    def __init__(self, job: Job, pods: list[Pod], expected: set[str], record: BackoffRecord, now: Moment) -> None:
        """Take the pods that the job owns, and the uids of those whose finalizers are being removed."""
        self.job, self.pods, self.now = job, pods, now
        self.expected = expected
        status = job.status
        self.uncounted = status.uncounted_terminated_pods or UncountedTerminatedPods()
        self.status: JobStatus = replace(status, uncounted_terminated_pods=self.uncounted)
        """The status as it will be."""
        self.counted_uids = frozenset((*self.uncounted.succeeded, *self.uncounted.failed))
        """The pods that the status names: they are counted already."""
        self.active_pods: list[Pod] = []
        self.active = self.ready = self.terminating = self.succeeded = self.failed = 0
        self.record = record
        """The failures with those of these pods; kept once the status is written."""
        self.known_succeeded = self.succeeded_indexes = Intervals()
        self.failed_indexes: Intervals | None = None
        self.replaceable: dict[int, Pod] = {}
        """The failed pods that are to be replaced, by index."""
        self.finished: JobCondition | None = None
        """The condition by which the job ends."""
        if status.start_time is None and not job.spec.suspend:
            self.status = replace(self.status, start_time=now.text)

    async def count(self) -> None:
        """Count the pods: those that are active, and those that have ended, named by the status or not."""
        succeeded: list[Pod] = []
        failed: list[Pod] = []
        pacer = Pacer()
        for pod in self.pods:
            if pod.is_active:
                self.active_pods.append(pod)
                self.ready += pod.is_ready
            elif is_terminating(pod):
                self.terminating += 1
            if not self.is_valid(pod) or pod.metadata.uid in self.counted_uids:
                pass
            elif pod.status.phase == SUCCEEDED:
                succeeded.append(pod)
            elif is_failed(pod, self.job):
                failed.append(pod)
            await pacer.pause()
        status, policy = self.job.status, self.job.spec.pod_failure_policy
        self.active = len(self.active_pods)
        self.succeeded = status.succeeded + len(succeeded) + len(self.uncounted.succeeded)
        counted = sum(match_failure(policy, pod).counts for pod in failed)
        self.failed = status.failed + counted + len(self.uncounted.failed)
        self.record = self.record.add(succeeded, failed)

    def is_uncounted(self, pod: Pod) -> bool:
        """Report whether a pod is not counted yet, as far as is known."""
        return has_finalizer(pod) and pod.metadata.uid not in self.expected

    def is_valid(self, pod: Pod) -> bool:
        """Report whether a pod may count: of an indexed job, one with an index (`getValidPodsWithFilter`)."""
        return self.is_uncounted(pod) and (not self.job.spec.is_indexed or has_index(pod, self.job))

    def evaluate(self, again: Callable[[float], None]) -> None:
        """Find the condition by which the job ends, failures before successes.

        What an earlier look has found stands. `again` is called with the seconds until the deadline.
        """
        job, now = self.job, self.now
        self.finished = self._earlier()
        if self.finished is None:
            message = self._failed_by_policy()
            if message is not None:
                self.finished = now.condition(FAILURE_TARGET, "PodFailurePolicy", message)
        if self.finished is None:
            self._evaluate_limits(again)
        if job.spec.is_indexed:
            self._evaluate_indexes()

    def _earlier(self) -> JobCondition | None:
        met = self.job.condition(SUCCESS_CRITERIA_MET)
        if met is not None and met.status == "True":
            return met
        target = self.job.condition(FAILURE_TARGET)
        if target is not None and target.status == "True":
            return self.now.condition(FAILED, target.reason, target.message)
        return None

    def _failed_by_policy(self) -> str | None:
        policy = self.job.spec.pod_failure_policy
        if policy is None:
            return None
        messages = (match_failure(policy, pod).message for pod in self.pods if is_failed(pod, self.job))
        return next((message for message in messages if message is not None), None)

    def _evaluate_limits(self, again: Callable[[float], None]) -> None:
        spec, now = self.job.spec, self.now
        if self.failed > spec.backoff_limit or self._restarts_exceeded():
            message = "Job has reached the specified backoff limit"
            self.finished = now.condition(FAILURE_TARGET, "BackoffLimitExceeded", message)
        elif spec.active_deadline_seconds is not None and not spec.suspend and self.status.start_time is not None:
            left = parse_time(self.status.start_time) + spec.active_deadline_seconds - now.seconds
            if left <= 0:
                message = "Job was active longer than specified deadline"
                self.finished = now.condition(FAILURE_TARGET, "DeadlineExceeded", message)
            else:
                again(left)

    def _restarts_exceeded(self) -> bool:
        """Report whether containers that restart in place have failed too often (`pastBackoffLimitOnFailure`)."""
        spec = self.job.spec
        if spec.restart_policy != "OnFailure":
            return False
        restarts = sum(
            status.restart_count
            for pod in self.pods
            if pod.status.phase in (RUNNING, PENDING)
            for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
        )
        return restarts >= max(spec.backoff_limit, 1)

    def _evaluate_indexes(self) -> None:
        job, spec, now = self.job, self.job.spec, self.now
        completions = spec.completions or 0
        self.known_succeeded = Intervals.parse(job.status.completed_indexes, completions)
        self.succeeded_indexes = self.known_succeeded.merge(newly_succeeded(job, self.pods))
        self.succeeded = self.succeeded_indexes.total
        if spec.backoff_limit_per_index is not None:
            known = Intervals.parse(job.status.failed_indexes or "", completions)
            failed = self.failed_indexes = known.merge(newly_failed(job, self.pods))
            if self.finished is None:
                self.finished = self._failed_by_indexes(failed.total, completions)
            closed = (self.succeeded_indexes, failed, indexes_of(self.active_pods))
            self.replaceable = latest_failures(job, filter(self.is_valid, self.pods), closed)
        if self.finished is None:
            message = match_success(spec.success_policy, completions, self.succeeded_indexes)
            if message is not None:
                self.finished = now.condition(SUCCESS_CRITERIA_MET, "SuccessPolicy", message)

    def _failed_by_indexes(self, failed: int, completions: int) -> JobCondition | None:
        most = self.job.spec.max_failed_indexes
        if most is not None and failed > most:
            message = "Job has exceeded the specified maximal number of failed indexes"
            return self.now.condition(FAILURE_TARGET, "MaxFailedIndexesExceeded", message)
        if failed and failed + self.succeeded >= completions:
            return self.now.condition(FAILURE_TARGET, "FailedIndexes", "Job has failed indexes")
        return None
