"""The policies of jobs (`pkg/controller/job/pod_failure_policy.go`, `success_policy.go`)."""

from __future__ import annotations

from typing import NamedTuple

from hydrofoil.controllers.batch.intervals import Intervals
from hydrofoil.controllers.objects.jobs import ExitCodes, PodFailurePolicy, PodFailureRule, SuccessPolicy
from hydrofoil.controllers.objects.pods import ContainerStatus, Pod

IGNORE, FAIL_JOB, FAIL_INDEX, COUNT = "Ignore", "FailJob", "FailIndex", "Count"


class PodFailure(NamedTuple):
    """What a failed pod means for its job."""

    message: str | None = None
    """Why the whole job fails; None if it does not."""
    counts: bool = True
    """Whether the failure counts for the limit of failures."""
    action: str | None = None
    """That of the rule that fits."""


def match_failure(policy: PodFailurePolicy | None, pod: Pod) -> PodFailure:
    """Return what the first rule says that a failed pod fits (`matchPodFailurePolicy`)."""
    for number, rule in enumerate(policy.rules if policy is not None else ()):
        cause = _cause(rule, pod)
        if cause is None:
            continue
        match rule.action:
            case "Ignore":
                return PodFailure(counts=False, action=IGNORE)
            case "FailIndex" | "Count":
                return PodFailure(action=rule.action)
            case "FailJob":
                return PodFailure(f"{cause} matching {FAIL_JOB} rule at index {number}", action=FAIL_JOB)
    return PodFailure()


def _cause(rule: PodFailureRule, pod: Pod) -> str | None:
    """Return what of a pod fits a rule, in words."""
    place = f"{pod.metadata.namespace}/{pod.metadata.name}"
    if rule.on_exit_codes is not None:
        for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
            code = _exit_code(status, rule.on_exit_codes)
            if code is not None:
                return f"Container {status.name} for pod {place} failed with exit code {code}"
        return None
    patterns = {(pattern.type, pattern.status) for pattern in rule.on_pod_conditions or ()}
    for condition in pod.status.conditions:
        if (condition.type, condition.status) in patterns:
            return f"Pod {place} has condition {condition.type}"
    return None


def _exit_code(status: ContainerStatus, wanted: ExitCodes) -> int | None:
    """Return the exit code of a container if it fits."""
    terminated = status.state.get("terminated")
    if terminated is None or wanted.container_name not in (None, status.name):
        return None
    code = int(terminated.get("exitCode", 0))
    if not code or (code in wanted.values) is not (wanted.operator == "In"):
        return None
    return code


def match_success(policy: SuccessPolicy | None, completions: int, succeeded: Intervals) -> str | None:
    """Return the message of the first rule that is met; None if none is (`matchSuccessPolicy`)."""
    if policy is None or not succeeded:
        return None
    for number, rule in enumerate(policy.rules):
        count = rule.succeeded_count
        if rule.succeeded_indexes is not None:
            required = Intervals.parse(rule.succeeded_indexes, completions)
            found = required.overlap(succeeded)
            met = bool(required) and (found == required.total or (count is not None and found >= count))
        else:
            met = count is not None and succeeded.total >= count
        if met:
            return f"Matched rules at index {number}"
    return None
