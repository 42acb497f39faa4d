"""The controllers of workloads that run on."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor, describe
from hydrofoil.controllers.workloads.deployment import DeploymentController
from hydrofoil.controllers.workloads.replica_set import ReplicaSetController, ReplicationControllerController

DESCRIPTORS: tuple[Descriptor, ...] = (
    describe(DeploymentController),
    describe(ReplicaSetController),
    describe(ReplicationControllerController),
)
"""In the order in which they start."""
