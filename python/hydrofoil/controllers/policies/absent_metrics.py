"""Why there is no value of a metric: no API serves any (`pkg/controller/podautoscaler`).

The texts are those of kube-controller-manager where no metrics server is installed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from hydrofoil.controllers.objects.meta import LabelSelector
from hydrofoil.controllers.policies.selector_text import format_selector

NOT_FOUND = "the server could not find the requested resource (get {})"
RESOURCE = "unable to fetch metrics from resource metrics API: " + NOT_FOUND.format("pods.metrics.k8s.io")
CUSTOM = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
EXTERNAL = "unable to fetch metrics from external metrics API: "


class MetricFailure(NamedTuple):
    """A metric without a value."""

    reason: str
    """The reason of the condition and of the event about this metric."""
    message: str
    """The cause."""
    summary: str
    """The cause, and which metric it is about."""


def _selector(metric: dict[str, Any]) -> str:
    selector = metric.get("selector")
    return "nil" if selector is None else format_selector(msgspec.convert(selector, LabelSelector))


def _resource(source: dict[str, Any]) -> str:
    name, target = source["name"], source["target"]
    kind = "usage" if target.get("averageValue") is not None else "utilization"
    return f"failed to get {name} {kind}: unable to get metrics for resource {name}: {RESOURCE}"


def _object(source: dict[str, Any], namespace: str) -> str:
    about, name = source["describedObject"], source["metric"]["name"]
    # The order of upstream's arguments.
    cause = f"unable to get metric {name}: {about['kind']} on {namespace} {about['name']}/{CUSTOM}"
    return cause if source["target"]["type"] == "Value" else f"failed to get {name} object metric: {cause}"


def _external(source: dict[str, Any], namespace: str) -> str:
    metric, target = source["metric"], source["target"]
    name = metric["name"]
    absent = EXTERNAL + NOT_FOUND.format(f"{name}.external.metrics.k8s.io")
    cause = f"unable to get external metric {namespace}/{name}/{_selector(metric)}: {absent}"
    if target.get("averageValue") is not None:
        return f"failed to get {name} external metric: {cause}"
    return f"failed to get external metric {name}: {cause}"


def metric_failure(metric: dict[str, Any], namespace: str) -> MetricFailure:
    """Return why a metric of an autoscaler has no value."""
    match metric["type"]:
        case "Resource":
            source = metric["resource"]
            message = _resource(source)
            return MetricFailure(
                "FailedGetResourceMetric", message, f"failed to get {source['name']} resource metric value: {message}"
            )
        case "ContainerResource":
            source = metric["containerResource"]
            message = _resource(source)
            summary = f"failed to get {source['container']} container metric value: {message}"
            return MetricFailure("FailedGetContainerResourceMetric", message, summary)
        case "Pods":
            message = f"unable to get metric {metric['pods']['metric']['name']}: {CUSTOM}"
            return MetricFailure("FailedGetPodsMetric", message, f"failed to get pods metric value: {message}")
        case "Object":
            message = _object(metric["object"], namespace)
            return MetricFailure("FailedGetObjectMetric", message, f"failed to get object metric value: {message}")
        case _:
            source = metric["external"]
            message = _external(source, namespace)
            summary = f"failed to get {source['metric']['name']} external metric value: {message}"
            return MetricFailure("FailedGetExternalMetric", message, summary)
