"""The policies of jobs (`pod_failure_policy_test.go`, `success_policy_test.go`, `backoff_utils_test.go`)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hydrofoil.controllers.batch.backoff import BackoffRecord
from hydrofoil.controllers.batch.intervals import Intervals
from hydrofoil.controllers.batch.job_pods import finished_time
from hydrofoil.controllers.batch.job_policies import PodFailure, match_failure, match_success
from hydrofoil.controllers.objects.jobs import PodFailurePolicy, SuccessPolicy
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.times import format_time
from tests.unit.values import pod

BEGIN = 1_767_225_600
FAILED = "Container main for pod a/p failed with exit code 2"


def at(seconds: int) -> str:
    """Return a time some seconds after the beginning."""
    return format_time(BEGIN + seconds)


def ended(code: int, *, name: str = "main", end: int = BEGIN, condition: str = "") -> Pod:
    """Return a pod with a container that has ended."""
    state = {"terminated": {"exitCode": code, "finishedAt": format_time(end)}}
    conditions = [{"type": condition, "status": "True"}] if condition else []
    status = {"phase": "Failed", "containerStatuses": [{"name": name, "state": state}], "conditions": conditions}
    return pod("p", status=status)


def rule(action: str, **more: Any) -> dict[str, Any]:
    """Return a rule."""
    return {"action": action, **more}


CODES = {"onExitCodes": {"operator": "In", "values": [2, 3]}}
OTHERS = {"onExitCodes": {"operator": "NotIn", "values": [2, 3]}}
NAMED = {"onExitCodes": {"operator": "In", "values": [2], "containerName": "side"}}
TARGET = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


@pytest.mark.parametrize(
    ("rules", "found", "wanted"),
    [
        ([], ended(2), PodFailure()),
        ([rule("Ignore", **CODES)], ended(2), PodFailure(counts=False, action="Ignore")),
        ([rule("Ignore", **CODES)], ended(4), PodFailure()),
        ([rule("Count", **OTHERS)], ended(4), PodFailure(action="Count")),
        ([rule("Count", **OTHERS)], ended(0), PodFailure()),
        ([rule("FailIndex", **CODES)], ended(3), PodFailure(action="FailIndex")),
        ([rule("Ignore", **NAMED)], ended(2), PodFailure()),
        ([rule("Ignore", **NAMED)], ended(2, name="side"), PodFailure(counts=False, action="Ignore")),
        (
            [rule("Count", **OTHERS), rule("FailJob", **CODES)],
            ended(2),
            PodFailure(f"{FAILED} matching FailJob rule at index 1", action="FailJob"),
        ),
        (
            [rule("FailJob", **TARGET)],
            ended(1, condition="DisruptionTarget"),
            PodFailure("Pod a/p has condition DisruptionTarget matching FailJob rule at index 0", action="FailJob"),
        ),
        ([rule("FailJob", **TARGET)], ended(1), PodFailure()),
    ],
)
def test_the_first_rule_that_fits_counts(rules: list[Any], found: Pod, wanted: PodFailure) -> None:
    assert match_failure(msgspec.convert({"rules": rules}, PodFailurePolicy), found) == wanted


@pytest.mark.parametrize(
    ("rules", "succeeded", "wanted"),
    [
        ([{"succeededCount": 2}], "0", None),
        ([{"succeededCount": 2}], "0,4", "Matched rules at index 0"),
        ([{"succeededIndexes": "0,3"}], "0,1", None),
        ([{"succeededIndexes": "0,3"}], "0-3", "Matched rules at index 0"),
        ([{"succeededIndexes": "0-4", "succeededCount": 3}], "1-3", "Matched rules at index 0"),
        ([{"succeededIndexes": "9"}, {"succeededCount": 1}], "1", "Matched rules at index 1"),
        ([{"succeededCount": 0}], "", None),
    ],
)
def test_success_is_met_by_one_rule(rules: list[Any], succeeded: str, wanted: str | None) -> None:
    policy = msgspec.convert({"rules": rules}, SuccessPolicy)
    assert match_success(policy, 5, Intervals.parse(succeeded, 5)) == wanted


def test_delays_double_with_each_failure_up_to_ten_minutes() -> None:
    record = BackoffRecord()
    for number, delay in enumerate((10, 20, 40, 80, 160, 320, 600, 600)):
        record = record.add([], [ended(1, end=BEGIN + number)])
        assert record.remaining(BEGIN + number) == delay
        assert record.remaining(BEGIN + number + delay) == 0


def test_a_success_forgets_the_failures_before_it() -> None:
    record = BackoffRecord().add([], [ended(1), ended(1, end=BEGIN + 5)])
    assert record.failures == 2
    assert record.add([ended(0, end=BEGIN + 9)], []) == BackoffRecord()
    mixed = record.add([ended(0, end=BEGIN + 9)], [ended(1, end=BEGIN + 8), ended(1, end=BEGIN + 12)])
    assert mixed == BackoffRecord(1, BEGIN + 12)


@pytest.mark.parametrize(
    ("status", "meta", "wanted"),
    [
        (
            {"containerStatuses": [{"name": "c", "state": {"terminated": {"finishedAt": at(3)}}}]},
            {},
            3,
        ),
        ({"conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": at(4)}]}, {}, 4),
        ({}, {"deletionTimestamp": at(35), "deletionGracePeriodSeconds": 30}, 5),
        ({"containerStatuses": [{"name": "c"}]}, {}, 0),
    ],
)
def test_the_end_of_a_pod_is_that_of_its_containers_or_an_estimate(
    status: dict[str, Any], meta: dict[str, Any], wanted: int
) -> None:
    meta = {"creationTimestamp": format_time(BEGIN), **meta}
    assert finished_time(pod("p", status=status, meta=meta)) == BEGIN + wanted
