"""The built-in kinds: the strategies of those that differ from the default."""

from __future__ import annotations

from hydrofoil.registry.allocation.ranges import Ports
from hydrofoil.registry.kinds.admissionregistration import PolicyBindingStrategy, PolicyStrategy
from hydrofoil.registry.kinds.batch import JobStrategy
from hydrofoil.registry.kinds.certificates import PodRequestStrategy, RequestStrategy
from hydrofoil.registry.kinds.core import EventStrategy, NamespaceStrategy, OrphaningStrategy, PodStrategy
from hydrofoil.registry.kinds.events import Expiry
from hydrofoil.registry.kinds.flowcontrol import Dangling, FlowControlStrategy
from hydrofoil.registry.kinds.networking import AddressStrategy
from hydrofoil.registry.kinds.resource import DeviceClaimStrategy, DeviceTemplateStrategy
from hydrofoil.registry.kinds.scheduling import PriorityClassStrategy
from hydrofoil.registry.kinds.services import ServiceStrategy
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategy import Strategy
from hydrofoil.server.deprecated import Objects
from hydrofoil.server.part import Core, Part
from hydrofoil.server.store_metrics import StoreMetrics
from hydrofoil.watch.hub import Hub

POLICIES = "admissionregistration.k8s.io"


def strategies(
    registry: Registry,
    hub: Hub,
    dangling: Dangling,
    networks: str,
    ports: tuple[int, int],
    *,
    granular: bool = True,
) -> dict[tuple[str, str], Strategy]:
    """Return them by group and resource; `networks` are those of cluster IPs, `ports` the first and last node port.

    `granular`: parts of the status of device claims have rights of their own.
    """
    return {
        ("", "events"): EventStrategy(registry),
        ("", "namespaces"): NamespaceStrategy(registry),
        ("", "pods"): PodStrategy(registry),
        ("", "replicationcontrollers"): OrphaningStrategy(registry),
        ("", "services"): ServiceStrategy(registry, hub, networks, Ports(*ports, registry.chance)),
        (POLICIES, "mutatingadmissionpolicies"): PolicyStrategy(registry),
        (POLICIES, "mutatingadmissionpolicybindings"): PolicyBindingStrategy(registry, "mutatingadmissionpolicies"),
        (POLICIES, "validatingadmissionpolicies"): PolicyStrategy(registry),
        (POLICIES, "validatingadmissionpolicybindings"): PolicyBindingStrategy(registry, "validatingadmissionpolicies"),
        ("batch", "jobs"): JobStrategy(registry),
        ("certificates.k8s.io", "certificatesigningrequests"): RequestStrategy(registry),
        ("certificates.k8s.io", "podcertificaterequests"): PodRequestStrategy(registry),
        ("flowcontrol.apiserver.k8s.io", "flowschemas"): FlowControlStrategy(registry, dangling),
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): FlowControlStrategy(registry, dangling),
        ("networking.k8s.io", "ipaddresses"): AddressStrategy(registry),
        ("resource.k8s.io", "resourceclaims"): DeviceClaimStrategy(registry, granular=granular),
        ("resource.k8s.io", "resourceclaimtemplates"): DeviceTemplateStrategy(registry),
        ("scheduling.k8s.io", "priorityclasses"): PriorityClassStrategy(registry),
    }


def kinds(core: Core) -> Part[None]:
    """Return the built-in kinds, with the loops that keep their objects as upstream does."""
    config, registry, hub, clock = core.config, core.registry, core.hub, core.clock
    dangling = Dangling(registry, hub, clock)
    expiry = Expiry(registry, hub, clock, config.event_ttl)

    async def close() -> None:
        await expiry.close()
        await dangling.close()

    networks, ports = config.service_cluster_ip_range, config.service_node_port_range
    granular = core.gates.enabled("DRAResourceClaimGranularStatusAuthorization")
    return Part(
        feature=None,
        close=close,
        strategies=strategies(registry, hub, dangling, networks, ports, granular=granular),
        collectors=lambda: [Objects(registry)],
        snapshots=[lambda: StoreMetrics.taken(registry)],
        queues={"priority_and_fairness_config_queue": dangling.queue},
    )
