"""The indexes of the pods of an indexed job (`pkg/controller/job/indexed_job_utils.go`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from hydrofoil.controllers.batch.intervals import Intervals
from hydrofoil.controllers.batch.job_pods import (
    COMPLETION_INDEX,
    FAILURE_COUNT,
    IGNORED_FAILURE_COUNT,
    UNKNOWN,
    completion_index,
    failure_count,
    finished_time,
    has_finalizer,
    ignored_failure_count,
    is_failed,
    removal_order,
    total_failure_count,
)
from hydrofoil.controllers.batch.job_policies import FAIL_INDEX, match_failure
from hydrofoil.controllers.objects.jobs import Job
from hydrofoil.controllers.objects.pods import SUCCEEDED, Pod

INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
LONGEST_PREFIX = 58
"""The most letters of a prefix of generated names (`MaxGeneratedNameLength`)."""


def indexes_of(pods: Iterable[Pod]) -> Intervals:
    """Return the indexes of pods."""
    return Intervals.of(index for index in map(completion_index, pods) if index != UNKNOWN)


def has_index(pod: Pod, job: Job) -> bool:
    """Report whether the index of a pod is one of its job's."""
    return UNKNOWN < completion_index(pod) < (job.spec.completions or 0)


def newly_succeeded(job: Job, pods: Iterable[Pod]) -> Intervals:
    """Return the indexes of pods that succeeded and are not counted yet (`calculateSucceededIndexes`)."""
    return indexes_of(p for p in pods if p.status.phase == SUCCEEDED and has_index(p, job) and has_finalizer(p))


def newly_failed(job: Job, pods: Iterable[Pod]) -> Intervals:
    """Return the indexes that failed for good, by pods that are not counted yet (`calculateFailedIndexes`)."""
    return indexes_of(p for p in pods if has_index(p, job) and has_finalizer(p) and is_index_failed(job, p))


def is_index_failed(job: Job, pod: Pod) -> bool:
    """Report whether no further pod is made for the index of a pod."""
    if not is_failed(pod, job):
        return False
    failure = match_failure(job.spec.pod_failure_policy, pod)
    if failure.action == FAIL_INDEX:
        return True
    return failure.counts and failure_count(pod) >= (job.spec.backoff_limit_per_index or 0)


def latest_failures(job: Job, pods: Iterable[Pod], closed: Sequence[Intervals]) -> dict[int, Pod]:
    """Return the last failed pod of each index that is to be replaced (`getPodsWithDelayedDeletionPerIndex`).

    It is kept until its replacement is made, which counts the failures on. An index that is `closed` has succeeded,
    failed for good, or has a pod that is active.
    """
    found: dict[int, Pod] = {}
    for pod in pods:
        index = completion_index(pod)
        if not is_failed(pod, job) or any(index in indexes for indexes in closed):
            continue
        known = found.get(index)
        if known is None or (
            total_failure_count(known) <= total_failure_count(pod) and finished_time(pod) >= finished_time(known)
        ):
            found[index] = pod
    return found


def surplus(job: Job, pods: Sequence[Pod]) -> tuple[list[Pod], list[Pod]]:
    """Return active pods that are too many for their index, or that have none, and the others."""
    extra: list[Pod] = []
    left: list[Pod] = []
    for index, group in groupby(sorted(pods, key=completion_index), completion_index):
        same = [*group]
        if index == UNKNOWN or index >= (job.spec.completions or 0):
            extra += same
        else:
            same.sort(key=removal_order)
            extra += same[:-1]
            left.append(same[-1])
    return extra, left


def name_prefix(job_name: str, index: int) -> str:
    """Return the prefix of the name of a pod (`podGenerateNameWithIndex`)."""
    end = f"-{index}-"
    return f"{job_name[: LONGEST_PREFIX - len(end)]}{end}"


def add_index_variable(spec: dict[str, Any]) -> None:
    """Give all containers of a pod the variable with its index, unless they have one of this name."""
    path = f"metadata.labels['{COMPLETION_INDEX}']"
    variable = {"name": INDEX_VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": path}}}
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        if all(known.get("name") != INDEX_VARIABLE for known in container.get("env") or ()):
            container["env"] = [*(container.get("env") or ()), variable]


def set_index(pod: dict[str, Any], job: Job, index: int, replaced: Pod | None) -> None:
    """Set what the index of a new pod decides; `replaced` is the failed pod in whose place it is made."""
    metadata, spec = pod["metadata"], pod["spec"]
    metadata["generateName"] = name_prefix(job.metadata.name, index)
    metadata["labels"] = {**metadata.get("labels", {}), COMPLETION_INDEX: str(index)}
    metadata["annotations"] = {**metadata.get("annotations", {}), COMPLETION_INDEX: str(index)}
    spec["hostname"] = f"{job.metadata.name}-{index}"
    if job.spec.backoff_limit_per_index is not None:
        metadata["annotations"] |= failure_annotations(job, replaced)


def failure_annotations(job: Job, replaced: Pod | None) -> dict[str, str]:
    """Return the annotations that count the failures of an index (`getNewIndexFailureCounts`)."""
    if replaced is None:
        return {FAILURE_COUNT: "0"}
    counts = match_failure(job.spec.pod_failure_policy, replaced).counts
    found = {FAILURE_COUNT: str(failure_count(replaced) + counts)}
    ignored = ignored_failure_count(replaced) + (not counts)
    return found | ({IGNORED_FAILURE_COUNT: str(ignored)} if ignored else {})
