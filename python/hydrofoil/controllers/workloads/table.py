"""The controllers of workloads that run on."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor, describe
from hydrofoil.controllers.workloads.daemon_set import DaemonSetController
from hydrofoil.controllers.workloads.deployment import DeploymentController
from hydrofoil.controllers.workloads.replica_set import ReplicaSetController, ReplicationControllerController
from hydrofoil.controllers.workloads.stateful_set import StatefulSetController

DESCRIPTORS: tuple[Descriptor, ...] = (
    describe(DeploymentController),
    describe(ReplicaSetController),
    describe(ReplicationControllerController),
    describe(StatefulSetController),
    describe(DaemonSetController),
)
"""In the order in which they start."""
