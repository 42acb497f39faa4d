"""Autoscalers without metrics (`pkg/controller/podautoscaler/horizontal_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.controllers.policies.absent_metrics import metric_failure
from hydrofoil.controllers.policies.horizontal_pod_autoscaler import HorizontalPodAutoscalerController
from tests.unit.controllers.workloads.cluster import CONTAINERS, PODS, Cluster, controlled, pod_template
from tests.unit.parts import Object, resource

AUTOSCALERS = resource("horizontalpodautoscalers", "autoscaling", "v2")
DEPLOYMENTS = resource("deployments", "apps")
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
ABSENT = (
    "unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: "
    "the server could not find the requested resource (get pods.metrics.k8s.io)"
)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([lambda runtime: HorizontalPodAutoscalerController(runtime, 15.0)]) as found:
        yield found


async def add_target(cluster: Cluster, replicas: int, name: str = "web") -> None:
    """Create a deployment."""
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": pod_template({"app": name})}
    await cluster.create(DEPLOYMENTS, {"metadata": {"name": name}, "spec": spec})


async def add(cluster: Cluster, name: str = "web", target: str = "web", **target_ref: str) -> None:
    """Create an autoscaler for 2 to 5 replicas, and wait for the first look."""
    ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target, **target_ref}
    spec = {"minReplicas": 2, "maxReplicas": 5, "scaleTargetRef": ref, "metrics": [CPU]}
    await cluster.create(AUTOSCALERS, {"metadata": {"name": name}, "spec": spec})
    await cluster.advance(15)


def status(cluster: Cluster, name: str = "web") -> Object:
    """Return the status of an autoscaler."""
    found: Object = cluster.get(AUTOSCALERS, name)["status"]
    return found


def conditions(cluster: Cluster, name: str = "web") -> dict[str, tuple[str, str]]:
    """Return the status and the reason of each condition."""
    return {one["type"]: (one["status"], one["reason"]) for one in status(cluster, name)["conditions"]}


def replicas(cluster: Cluster) -> int:
    """Return the replicas that the target should have."""
    return int(cluster.get(DEPLOYMENTS, "web")["spec"]["replicas"])


async def test_without_metrics_nothing_is_scaled_and_it_is_said(cluster: Cluster) -> None:
    await add_target(cluster, 3)
    await add(cluster)
    found = status(cluster)
    assert conditions(cluster) == {
        "AbleToScale": ("True", "SucceededGetScale"),
        "ScalingActive": ("False", "FailedGetResourceMetric"),
    }
    text = f"failed to get cpu utilization: {ABSENT}"
    assert found["conditions"][1]["message"] == f"the HPA was unable to compute the replica count: {text}"
    assert (found["currentReplicas"], found["desiredReplicas"]) == (3, 0) and replicas(cluster) == 3
    summary = f"invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: {text}"
    assert sorted(cluster.events("HorizontalPodAutoscaler")) == [
        f"Warning FailedComputeMetricsReplicas: {summary}",
        f"Warning FailedGetResourceMetric: {text}",
    ]


@pytest.mark.parametrize(
    ("present", "wanted", "reason"), [(7, 5, "above Spec.MaxReplicas"), (1, 2, "below Spec.MinReplicas")]
)
async def test_the_bounds_are_kept(cluster: Cluster, present: int, wanted: int, reason: str) -> None:
    await add_target(cluster, present)
    await add(cluster)
    assert replicas(cluster) == wanted
    found = status(cluster)
    assert conditions(cluster) == {"AbleToScale": ("True", "SucceededRescale")}
    assert found["lastScaleTime"] == cluster.clock.text()
    assert (found["currentReplicas"], found["desiredReplicas"]) == (present, wanted)
    event = f"Normal SuccessfulRescale: New size: {wanted}; reason: Current number of replicas {reason}"
    assert cluster.events("HorizontalPodAutoscaler") == [event]


async def test_a_target_without_replicas_is_left_alone(cluster: Cluster) -> None:
    await add_target(cluster, 0)
    await add(cluster)
    assert conditions(cluster)["ScalingActive"] == ("False", "ScalingDisabled") and replicas(cluster) == 0


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({"target": "absent"}, 'deployments.apps "absent" not found'),
        ({"kind": "Widget"}, 'no matches for kind "Widget" in group "apps"'),
        ({"apiVersion": "batch/v1", "kind": "Job"}, "the server could not find the requested resource"),
    ],
)
async def test_a_target_that_is_missing_is_said(cluster: Cluster, target: dict[str, str], message: str) -> None:
    await add_target(cluster, 3)
    await add(cluster, **target)
    (condition,) = status(cluster)["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("AbleToScale", "False", "FailedGetScale")
    assert condition["message"] == f"the HPA controller was unable to get the target's current scale: {message}"
    assert cluster.events("HorizontalPodAutoscaler") == [f"Warning FailedGetScale: {message}"]


async def test_it_looks_again_each_period(cluster: Cluster) -> None:
    await add_target(cluster, 3)
    await add(cluster)
    await cluster.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 9}})
    await cluster.advance(14)
    assert replicas(cluster) == 9
    await cluster.advance(1)
    assert replicas(cluster) == 5


async def test_a_condition_keeps_the_time_of_its_last_change(cluster: Cluster) -> None:
    await add_target(cluster, 3)
    await add(cluster)
    before = status(cluster)
    await cluster.advance(60)
    assert status(cluster) == before


async def test_pods_of_two_autoscalers_are_ambiguous(cluster: Cluster) -> None:
    await add_target(cluster, 3)
    await cluster.create(
        PODS, {"metadata": {"name": "p", "labels": {"app": "web"}}, "spec": {"containers": CONTAINERS}}
    )
    await add(cluster, "one")
    await add(cluster, "two")
    await cluster.advance(15)
    assert conditions(cluster, "one")["ScalingActive"] == ("False", "AmbiguousSelector")
    text = "pods by selector app=web are controlled by multiple HPAs: [{one a} {two a}]"
    assert f"Warning AmbiguousSelector: {text}" in cluster.events("HorizontalPodAutoscaler")


METRIC = {"name": "hits", "selector": {"matchLabels": {"q": "1"}}}
CUSTOM = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
EXTERNAL = (
    "unable to get external metric a/hits/&LabelSelector{MatchLabels:map[string]string{q: 1,},"
    "MatchExpressions:[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: "
    "the server could not find the requested resource (get hits.external.metrics.k8s.io)"
)


@pytest.mark.parametrize(
    ("kind", "source", "reason", "summary"),
    [
        (
            "Resource",
            {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1"}},
            "FailedGetResourceMetric",
            f"failed to get cpu resource metric value: failed to get cpu usage: {ABSENT}",
        ),
        (
            "ContainerResource",
            {"name": "cpu", "container": "c", "target": {"type": "Utilization", "averageUtilization": 1}},
            "FailedGetContainerResourceMetric",
            f"failed to get c container metric value: failed to get cpu utilization: {ABSENT}",
        ),
        (
            "Pods",
            {"metric": METRIC, "target": {"type": "AverageValue", "averageValue": "1"}},
            "FailedGetPodsMetric",
            f"failed to get pods metric value: unable to get metric hits: {CUSTOM}",
        ),
        (
            "Object",
            {"metric": METRIC, "describedObject": {"kind": "Service", "name": "s"}, "target": {"type": "Value"}},
            "FailedGetObjectMetric",
            f"failed to get object metric value: unable to get metric hits: Service on a s/{CUSTOM}",
        ),
        (
            "External",
            {"metric": METRIC, "target": {"type": "Value", "value": "1"}},
            "FailedGetExternalMetric",
            f"failed to get hits external metric value: failed to get external metric hits: {EXTERNAL}",
        ),
        (
            "External",
            {"metric": METRIC, "target": {"type": "AverageValue", "averageValue": "1"}},
            "FailedGetExternalMetric",
            f"failed to get hits external metric value: failed to get hits external metric: {EXTERNAL}",
        ),
    ],
)
def test_each_kind_of_metric_has_its_message(kind: str, source: dict[str, Any], reason: str, summary: str) -> None:
    found = metric_failure({"type": kind, kind[0].lower() + kind[1:]: source}, "a")
    assert (found.reason, found.summary) == (reason, summary)
