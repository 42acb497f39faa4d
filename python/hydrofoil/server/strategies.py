"""The kinds that do something differently."""

from __future__ import annotations

from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategies.base import Strategy
from hydrofoil.registry.strategies.cluster_ips import ClusterIPs
from hydrofoil.registry.strategies.core import (
    AddressStrategy,
    EventStrategy,
    JobStrategy,
    NamespaceStrategy,
    OrphaningStrategy,
    RequestStrategy,
)
from hydrofoil.registry.strategies.devices import DeviceClaimStrategy, DeviceTemplateStrategy
from hydrofoil.registry.strategies.flowcontrol import FlowSchemaStrategy, PriorityLevelStrategy
from hydrofoil.registry.strategies.pods import PodStrategy
from hydrofoil.registry.strategies.ranges import Ports
from hydrofoil.registry.strategies.services import ServiceStrategy


def strategies(registry: Registry, networks: str, ports: tuple[int, int]) -> dict[tuple[str, str], Strategy]:
    """By group and resource; `networks` are those of cluster IPs, `ports` the first and last node port."""
    return {
        ("", "events"): EventStrategy(registry),
        ("", "namespaces"): NamespaceStrategy(registry),
        ("", "pods"): PodStrategy(registry),
        ("", "replicationcontrollers"): OrphaningStrategy(registry),
        ("", "services"): ServiceStrategy(registry, ClusterIPs(networks), Ports(*ports)),
        ("batch", "jobs"): JobStrategy(registry),
        ("certificates.k8s.io", "certificatesigningrequests"): RequestStrategy(registry),
        ("flowcontrol.apiserver.k8s.io", "flowschemas"): FlowSchemaStrategy(registry),
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): PriorityLevelStrategy(registry),
        ("networking.k8s.io", "ipaddresses"): AddressStrategy(registry),
        ("resource.k8s.io", "resourceclaims"): DeviceClaimStrategy(registry),
        ("resource.k8s.io", "resourceclaimtemplates"): DeviceTemplateStrategy(registry),
    }
