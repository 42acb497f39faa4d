"""The controllers of what bounds workloads."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor, describe
from hydrofoil.controllers.policies.disruption import DisruptionController
from hydrofoil.controllers.policies.horizontal_pod_autoscaler import HorizontalPodAutoscalerController
from hydrofoil.controllers.policies.resource_quota import ResourceQuotaController

DESCRIPTORS: tuple[Descriptor, ...] = (
    describe(DisruptionController),
    Descriptor(
        ResourceQuotaController.name,
        lambda deps: ResourceQuotaController.served(deps.registry.catalog),
        lambda runtime, deps: ResourceQuotaController(runtime, deps.options.resource_quota_sync_period),
    ),
    Descriptor(
        HorizontalPodAutoscalerController.name,
        lambda deps: HorizontalPodAutoscalerController.served(deps.registry.catalog),
        lambda runtime, deps: HorizontalPodAutoscalerController(
            runtime, deps.options.horizontal_pod_autoscaler_sync_period
        ),
    ),
)
"""In the order in which they start."""
