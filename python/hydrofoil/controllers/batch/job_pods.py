"""What a job asks of its pods."""

from __future__ import annotations

import math

from hydrofoil.controllers.objects.jobs import TRACKING_FINALIZER, Job
from hydrofoil.controllers.objects.pods import FAILED, SUCCEEDED, ContainerStatus, Pod
from hydrofoil.controllers.objects.times import parse_time

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
"""The annotation and the label with the index of a pod."""
FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"
"""The annotations with the number of failed pods of the same index before a pod, and of those that did not count."""
PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
UNKNOWN = -1
"""In place of the index of a pod that has none."""
LARGEST = (1 << 31) - 1


def has_finalizer(pod: Pod) -> bool:
    """Report whether a pod is not counted yet."""
    return TRACKING_FINALIZER in pod.metadata.finalizers


def _number(pod: Pod, annotation: str) -> int | None:
    text = pod.metadata.annotations.get(annotation, "")
    return int(text) if text.isdecimal() and text.isascii() else None


def completion_index(pod: Pod) -> int:
    """Return the index of a pod; UNKNOWN without a valid one (`getCompletionIndex`)."""
    index = _number(pod, COMPLETION_INDEX)
    return UNKNOWN if index is None else index


def failure_count(pod: Pod) -> int:
    """Return the number of failed pods of the same index before a pod (`getIndexFailureCount`)."""
    count = _number(pod, FAILURE_COUNT) or 0
    return count if count <= LARGEST else 0


def ignored_failure_count(pod: Pod) -> int:
    """Return the number of those that did not count."""
    count = _number(pod, IGNORED_FAILURE_COUNT) or 0
    return count if count <= LARGEST else 0


def total_failure_count(pod: Pod) -> int:
    """Return the number of all of them (`getIndexAbsoluteFailureCount`)."""
    return failure_count(pod) + ignored_failure_count(pod)


def is_failed(pod: Pod, job: Job) -> bool:
    """Report whether a pod counts as failed: also one that is being deleted, unless only ended ones are replaced."""
    if pod.status.phase == FAILED:
        return True
    return not job.spec.replaces_failed_only and pod.is_deleting and pod.status.phase != SUCCEEDED


def is_terminating(pod: Pod) -> bool:
    """Report whether a pod is being deleted and has not ended (`IsPodTerminating`)."""
    return pod.is_deleting and not pod.is_ended


def removal_order(pod: Pod) -> tuple[object, ...]:
    """Return what orders active pods, those that are removed first being the least (`ActivePods`)."""
    ready = pod.condition("Ready")
    is_ready = ready is not None and ready.status == "True"
    since = ready.last_transition_time if is_ready and ready is not None else None
    restarts = max((status.restart_count for status in pod.status.container_statuses), default=0)
    return (
        bool(pod.spec.node_name),
        PHASES.get(pod.status.phase, 0),
        is_ready,
        -parse_time(since) if since else -math.inf,
        -restarts,
        -parse_time(pod.metadata.creation_timestamp),
    )


def _end_of_containers(pod: Pod) -> float | None:
    """Return the latest end of the containers, if all have ended; sidecars end after the others."""
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    latest = _latest_end(None, pod.status.container_statuses)
    return _latest_end(latest, tuple(s for s in pod.status.init_container_statuses if s.name in sidecars))


def _latest_end(latest: float | None, statuses: tuple[ContainerStatus, ...]) -> float | None:
    for status in statuses:
        end = (status.state.get("terminated") or {}).get("finishedAt")
        if not end:
            return None
        time = parse_time(end)
        latest = time if latest is None else max(latest, time)
    return latest


def finished_time(pod: Pod) -> float:
    """Return when a pod ended, in seconds since 1970 (`getFinishedTime`).

    That of its containers, else since when it is not ready, else when its deletion began, else its beginning.
    """
    end = _end_of_containers(pod)
    if end is not None:
        return end
    ready = pod.condition("Ready")
    if ready is not None and ready.status == "False" and ready.last_transition_time:
        return parse_time(ready.last_transition_time)
    meta = pod.metadata
    if meta.deletion_timestamp is not None:
        return parse_time(meta.deletion_timestamp) - (meta.deletion_grace_period_seconds or 0)
    return parse_time(meta.creation_timestamp)
