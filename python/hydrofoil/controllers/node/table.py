"""The controllers of nodes."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor, describe
from hydrofoil.controllers.node.lifecycle import NodeLifecycle
from hydrofoil.controllers.node.pod_gc import PodCollector
from hydrofoil.controllers.node.taint_eviction import TaintEviction
from hydrofoil.controllers.node.ttl import TimeToLive

DESCRIPTORS: tuple[Descriptor, ...] = (
    Descriptor(
        NodeLifecycle.name,
        lambda deps: NodeLifecycle.served(deps.registry.catalog),
        lambda runtime, deps: NodeLifecycle(runtime, deps.options),
    ),
    describe(TaintEviction),
    Descriptor(
        PodCollector.name,
        lambda deps: PodCollector.served(deps.registry.catalog),
        lambda runtime, deps: PodCollector(runtime, deps.options),
    ),
    describe(TimeToLive),
)
"""In the order in which they start."""
