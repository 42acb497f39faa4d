"""What a pod takes of a node (component-helpers `resource.PodRequests`, scheduler `framework/types.go`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hydrofoil.controllers.objects.pods import Container, Pod
from hydrofoil.controllers.objects.quantities import parse_amount

Amounts = Mapping[str, int]
"""Amounts by resource: thousandths of CPU, whole units of others."""
LEAST = {"cpu": 100, "memory": 200 * 1024 * 1024}
"""What a container that asks for nothing counts as in scores (`util.DefaultMilliCPURequest`)."""


def read_amounts(quantities: Mapping[str, Any]) -> dict[str, int]:
    """Return amounts of a map of quantities."""
    return {name: parse_amount(name, str(quantity)) for name, quantity in quantities.items()}


def _add(total: dict[str, int], other: Amounts) -> None:
    for name, amount in other.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: dict[str, int], other: Amounts) -> None:
    for name, amount in other.items():
        total[name] = max(total.get(name, 0), amount)


def _of_container(container: Container, least: Amounts) -> dict[str, int]:
    found = read_amounts(container.resources.get("requests") or {})
    for name, amount in least.items():
        found.setdefault(name, amount)
    return found


def sum_containers(
    containers: Iterable[Container], init_containers: Iterable[Container], least: Amounts
) -> dict[str, int]:
    """Return what containers take at most at one moment; those that restart run beside all that come after them."""
    total: dict[str, int] = {}
    for container in containers:
        _add(total, _of_container(container, least))
    beside: dict[str, int] = {}
    most: dict[str, int] = {}
    for container in init_containers:
        taken = _of_container(container, least)
        if container.restart_policy == "Always":
            _add(total, taken)
            _add(beside, taken)
            taken = beside
        else:
            _add(taken, beside)
        _raise_to(most, taken)
    _raise_to(total, most)
    return total


def pod_requests(pod: Pod, least: Amounts | None = None) -> dict[str, int]:
    """Return what a pod takes, without resources of which it takes nothing; `least` is for containers without any."""
    spec = pod.spec
    total = sum_containers(spec.containers, spec.init_containers, least or {})
    # Pod-level resources replace the sum of those that they name.
    for name, amount in read_amounts(spec.resources.get("requests") or {}).items():
        total[name] = amount
    _add(total, read_amounts(spec.overhead))
    return {name: amount for name, amount in total.items() if amount}


def host_ports(pod: Pod) -> frozenset[tuple[str, str, int]]:
    """Return protocol, address and number of the ports of a node that a pod takes (`util.GetHostPorts`)."""
    spec = pod.spec
    restarted = (c for c in spec.init_containers if c.restart_policy == "Always")
    return frozenset(
        (port.get("protocol") or "TCP", port.get("hostIP") or "0.0.0.0", port["hostPort"])
        for container in (*spec.containers, *restarted)
        for port in container.ports
        if port.get("hostPort")
    )
