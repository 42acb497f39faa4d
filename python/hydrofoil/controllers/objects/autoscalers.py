"""Horizontal pod autoscalers (`staging/src/k8s.io/api/autoscaling/v2`)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hydrofoil.controllers.objects.meta import ObjectMeta

ABLE_TO_SCALE, SCALING_ACTIVE, SCALED_TO_ZERO = "AbleToScale", "ScalingActive", "ScaledToZero"


class ScaleTarget(Struct, frozen=True, rename="camel"):
    """What is scaled."""

    kind: str
    name: str
    api_version: str = ""


class AutoscalerSpec(Struct, frozen=True, rename="camel"):
    """The bounds of the replicas, and what decides between them."""

    scale_target_ref: ScaleTarget
    max_replicas: int
    min_replicas: int = 1
    metrics: tuple[dict[str, Any], ...] = ()


class AutoscalerCondition(Struct, frozen=True, rename="camel"):
    """A condition of an autoscaler."""

    type: str
    status: str
    last_transition_time: str | None = None
    reason: str = ""
    message: str = ""


class AutoscalerStatus(Struct, frozen=True, rename="camel"):
    """What the autoscaler last did."""

    desired_replicas: int = 0
    current_replicas: int = 0
    last_scale_time: str | None = None
    current_metrics: tuple[dict[str, Any], ...] | None = None
    conditions: tuple[AutoscalerCondition, ...] | None = None
    observed_generation: int | None = None


class HorizontalPodAutoscaler(Struct, frozen=True):
    """An autoscaler."""

    metadata: ObjectMeta
    spec: AutoscalerSpec
    status: AutoscalerStatus = AutoscalerStatus()
