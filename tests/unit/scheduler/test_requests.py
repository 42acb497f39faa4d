"""What a pod takes of a node (component-helpers `resource.PodRequests`)."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.controllers.objects.quantities import parse_amount, parse_quantity
from hydrofoil.scheduler.requests import LEAST, host_ports, pod_requests
from tests.unit.values import pod


def container(cpu: str, **more: Any) -> dict[str, Any]:
    """Return a container that asks for CPU."""
    return {"name": f"c{cpu}", "resources": {"requests": {"cpu": cpu}}, **more}


def test_containers_are_added_and_initial_ones_count_by_the_most_at_a_time() -> None:
    assert pod_requests(pod(containers=[container("1"), container("500m")])) == {"cpu": 1500}
    many = pod(containers=[container("1")], initContainers=[container("3"), container("2")])
    assert pod_requests(many) == {"cpu": 3000}
    sidecar = container("1", restartPolicy="Always")
    assert pod_requests(pod(containers=[container("1")], initContainers=[sidecar, container("2")])) == {"cpu": 3000}
    assert pod_requests(pod(overhead={"cpu": "10m"}, containers=[container("1")])) == {"cpu": 1010}
    assert pod_requests(pod(resources={"requests": {"cpu": "2"}}, containers=[container("1")])) == {"cpu": 2000}


def test_containers_without_requests_count_in_scores() -> None:
    assert pod_requests(pod()) == {}
    assert pod_requests(pod(), LEAST) == LEAST


def test_ports_of_the_node_are_those_with_a_number_of_it() -> None:
    ports = [{"containerPort": 80}, {"hostPort": 81, "protocol": "UDP"}, {"hostPort": 82, "hostIP": "1.2.3.4"}]
    found = host_ports(pod(containers=[{"name": "a", "ports": ports}]))
    assert found == {("UDP", "0.0.0.0", 81), ("TCP", "1.2.3.4", 82)}


@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        ("cpu", "100m", 100),
        ("cpu", "0.0001", 1),
        ("memory", "1Ki", 1024),
        ("memory", "1.5k", 1500),
        ("pods", "1e2", 100),
    ],
)
def test_quantities_are_read_and_rounded_up(resource: str, text: str, amount: int) -> None:
    assert parse_amount(resource, text) == amount


@pytest.mark.parametrize("text", ["", "1KI", "x", "1 "])
def test_other_texts_are_no_quantities(text: str) -> None:
    with pytest.raises(ValueError, match="no quantity"):
        parse_quantity(text)
