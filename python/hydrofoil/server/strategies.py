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
from hydrofoil.registry.strategies.flowcontrol import Dangling, FlowControlStrategy
from hydrofoil.registry.strategies.pods import PodStrategy
from hydrofoil.registry.strategies.ranges import Ports
from hydrofoil.registry.strategies.services import ServiceStrategy
from hydrofoil.watch.hub import Hub


def strategies(
    registry: Registry, hub: Hub, dangling: Dangling, networks: str, ports: tuple[int, int]
) -> dict[tuple[str, str], Strategy]:
    """By group and resource; `networks` are those of cluster IPs, `ports` the first and last node port."""
    chance = registry.chance
    return {
        ("", "events"): EventStrategy(registry),
        ("", "namespaces"): NamespaceStrategy(registry),
        ("", "pods"): PodStrategy(registry),
        ("", "replicationcontrollers"): OrphaningStrategy(registry),
        ("", "services"): ServiceStrategy(registry, hub, ClusterIPs(networks, chance), Ports(*ports, chance)),
        ("batch", "jobs"): JobStrategy(registry),
        ("certificates.k8s.io", "certificatesigningrequests"): RequestStrategy(registry),
        ("flowcontrol.apiserver.k8s.io", "flowschemas"): FlowControlStrategy(registry, dangling),
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): FlowControlStrategy(registry, dangling),
        ("networking.k8s.io", "ipaddresses"): AddressStrategy(registry),
        ("resource.k8s.io", "resourceclaims"): DeviceClaimStrategy(registry),
        ("resource.k8s.io", "resourceclaimtemplates"): DeviceTemplateStrategy(registry),
    }
