"""What services ask of pods (`k8s.io/endpointslice/util`, `utils_test.go`)."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.controllers.network.service_pods import TriggerTimes, find_port, parse_address
from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.services import Service, ServicePort
from tests.unit.values import pod

NAMED = [{"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("10.0.0.1", ("10.0.0.1", False)),
        ("010.000.0.01", ("10.0.0.1", False)),
        ("2001:DB8::0001", ("2001:db8::1", True)),
        ("", None),
        ("web", None),
        ("1.2.3", None),
    ],
)
def test_addresses_have_one_form(text: str, wanted: tuple[str, bool] | None) -> None:
    assert parse_address(text) == wanted


@pytest.mark.parametrize(
    ("target", "protocol", "containers", "sidecars", "wanted"),
    [
        (7, "TCP", NAMED, [], 7),
        ("web", "TCP", NAMED, [], 8080),
        ("web", "UDP", NAMED, [], None),
        ("absent", "TCP", NAMED, [], None),
        ("web", "TCP", [{"name": "c"}], [{**NAMED[0], "restartPolicy": "Always"}], 8080),
        ("web", "TCP", [{"name": "c"}], NAMED, None),
    ],
)
def test_ports_are_found_by_name_and_protocol(
    target: int | str, protocol: str, containers: list[Any], sidecars: list[Any], wanted: int | None
) -> None:
    found = pod(containers=containers, initContainers=sidecars)
    assert find_port(found, ServicePort(80, protocol=protocol, target_port=target)) == wanted


def at(name: str, time: str) -> Pod:
    """Return a pod that is ready since a time."""
    return pod(name, status={"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": time}]})


def test_the_trigger_is_the_earliest_new_change() -> None:
    times, service = (
        TriggerTimes(),
        Service(ObjectMeta("web", namespace="a", creation_timestamp="2026-01-01T00:00:00Z")),
    )
    early, late = "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"
    assert times.update(service, [at("p", early)]) == "2026-01-01T00:00:00Z"
    assert times.update(service, [at("p", early)]) == ""
    assert times.update(service, [at("p", late), at("q", early)]) == early
    assert times.update(service, [at("q", early)]) == ""
    # A pod that comes back is new.
    assert times.update(service, [at("p", late), at("q", early)]) == late
    times.forget("a", "web")
    assert times.update(service, []) == "2026-01-01T00:00:00Z"
