"""What services ask of their pods (upstream `k8s.io/endpointslice/util`)."""

from __future__ import annotations

from functools import lru_cache

from hydrofoil.controllers.objects.pods import Container, Pod
from hydrofoil.controllers.objects.services import Service, ServicePort
from hydrofoil.registry.allocation.ranges import canonical

LAST_CHANGE_TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
HEADLESS_LABEL = "service.kubernetes.io/headless"
LEADER_ANNOTATION = "control-plane.alpha.kubernetes.io/leader"
"""The annotation of Endpoints that are a lock of leader election."""


@lru_cache(4096)
def parse_address(text: str) -> tuple[str, bool] | None:
    """Return an address in its usual form, and whether it is of IPv6 (`ParseIPSloppy`); None if it is none."""
    try:
        address = canonical(text)
    except ValueError:
        return None
    return str(address), address.version == 6


def pod_addresses(pod: Pod, *, ipv6: bool) -> list[str]:
    """Return the addresses of a pod that are of a family."""
    found = (parse_address(item.ip) for item in pod.status.pod_ips)
    return [address[0] for address in found if address is not None and address[1] is ipv6]


def is_endpoint(pod: Pod, *, with_terminating: bool) -> bool:
    """Report whether a pod belongs to the endpoints of its services (`ShouldPodBeInEndpoints`)."""
    status = pod.status
    if pod.is_ended or not (status.pod_ip or status.pod_ips):
        return False
    return with_terminating or not pod.is_deleting


def has_hostname(pod: Pod, service: Service) -> bool:
    """Report whether the endpoint of a pod has its hostname (`ShouldSetHostname`)."""
    meta, spec = service.metadata, pod.spec
    return bool(spec.hostname) and spec.subdomain == meta.name and pod.metadata.namespace == meta.namespace


def endpoint_differs(old: Pod, new: Pod) -> bool:
    """Report whether the endpoint of a pod may differ after a change (the first result of `podEndpointsChanged`).

    A pod that ends is no endpoint any more; upstream relies on its readiness for that.
    """
    return (
        old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
        or old.is_ready != new.is_ready
        or old.status.pod_ips != new.status.pod_ips
        or old.is_ended != new.is_ended
    )


def find_port(pod: Pod, port: ServicePort) -> int | None:
    """Return the port of a pod that a port of a service stands for; None if no container has its name (`FindPort`)."""
    if isinstance(port.target_port, int):
        return port.target_port
    sidecars = (container for container in pod.spec.init_containers if container.restart_policy == "Always")
    for container in (*pod.spec.containers, *sidecars):
        number = _named_port(container, port.target_port, port.protocol)
        if number is not None:
            return number
    return None


def _named_port(container: Container, name: str, protocol: str) -> int | None:
    for port in container.ports:
        if port.get("name") == name and port.get("protocol", "TCP") == protocol:
            return int(port["containerPort"])
    return None


class TriggerTimes:
    """When what changed in the endpoints of a service changed in its pods (`TriggerTimeTracker`).

    Times are those of objects, in whole seconds: their texts compare as they do.
    """

    def __init__(self) -> None:
        self._services: dict[tuple[str, str], tuple[str, dict[str, str]]] = {}
        """For each service the latest time of itself, and of each of its pods by name."""

    def update(self, service: Service, pods: list[Pod]) -> str:
        """Note the present times, and return the earliest of those that are new; empty if none is."""
        meta = service.metadata
        key = meta.namespace, meta.name
        known = self._services.get(key)
        service_time, pod_times = known or ("", {})
        times, new = {}, []
        for pod in pods:
            ready = pod.condition("Ready")
            time = (ready and ready.last_transition_time) or ""
            if time:
                times[pod.metadata.name] = time
                if time > pod_times.get(pod.metadata.name, ""):
                    new.append(time)
        if meta.creation_timestamp > service_time:
            new.append(meta.creation_timestamp)
        self._services[key] = meta.creation_timestamp, times
        if known is None:
            return meta.creation_timestamp
        return min(new, default="")

    def forget(self, namespace: str, name: str) -> None:
        """Forget a service that is gone."""
        self._services.pop((namespace, name), None)
