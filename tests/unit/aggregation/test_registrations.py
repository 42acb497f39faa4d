"""The table of API services."""

from __future__ import annotations

import pytest

from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.apis.registration import Registration, Service, registration
from tests.unit.aggregation.services import SERVICE, stored


@pytest.fixture
def heard() -> list[tuple[str, Registration | None]]:
    return []


@pytest.fixture
def table(heard: list[tuple[str, Registration | None]]) -> Registrations:
    found = Registrations()
    found.listeners.append(lambda name, now: heard.append((name, now)))
    return found


def test_an_api_service_as_it_says() -> None:
    body = {
        "metadata": {"name": "v1.e.com"},
        "spec": {"group": "e.com", "version": "v1", "service": SERVICE, "caBundle": "eHk=", "groupPriorityMinimum": 7},
        "status": {"conditions": [{"type": "Available", "status": "True"}]},
    }
    found = registration(body)
    assert found.service == Service("a", "s", 443, b"xy", insecure=False)
    assert found.service.host == "s.a.svc"
    assert (found.path, found.group_priority, found.available) == ("/apis/e.com/v1", 7, True)


def test_groups_stand_by_priority_and_versions_by_theirs(table: Registrations) -> None:
    table.replace(
        [
            stored("v1beta1", "e.com"),
            stored("v1", "e.com"),
            stored("v2", "e.com", versionPriority=50),
            stored("v1", "first.com", groupPriorityMinimum=900),
        ]
    )
    assert table.groups() == {"first.com": ["v1"], "e.com": ["v2", "v1", "v1beta1"]}
    assert list(table.groups()) == ["first.com", "e.com"]


def test_listeners_hear_of_each_change_once(table: Registrations, heard: list[tuple[str, Registration | None]]) -> None:
    one = stored("v1", "e.com", SERVICE)
    table.apply(None, one)
    table.apply(one, one)
    table.report()
    table.report()
    assert [(name, now is not None) for name, now in heard] == [("v1.e.com", True)]
    table.apply(one, None)
    table.report()
    assert heard[-1] == ("v1.e.com", None)
    assert table.remote == {}


def test_what_is_gone_when_all_is_told_anew_is_forgotten(table: Registrations) -> None:
    table.replace([stored("v1", "e.com", SERVICE), stored("v1", "f.com", SERVICE)])
    table.discover("v1.e.com", {"version": "v1"})
    changes = table.changes
    table.replace([stored("v1", "f.com", SERVICE)])
    assert set(table.remote) == {("f.com", "v1")}
    assert table.discovered == {} and table.changes > changes


def test_only_what_a_service_serves_is_discovered(table: Registrations) -> None:
    table.replace([stored("v1", "e.com")])
    table.discover("v1.e.com", {"version": "v1"})
    table.discover("v1.gone.com", {"version": "v1"})
    assert table.discovered == {}


def test_an_api_service_that_is_served_here_again(table: Registrations) -> None:
    remote, local = stored("v1", "e.com", SERVICE), stored("v1", "e.com")
    table.apply(None, remote)
    table.discover("v1.e.com", {"version": "v1"})
    table.apply(remote, local)
    assert (table.remote, table.discovered) == ({}, {})


def test_only_registrations_with_a_service_change_what_services_hold(table: Registrations) -> None:
    """A definition of thousands of versions has as many registrations, and each call looks at all of them."""
    calls: list[None] = []
    table.resource_listeners[lambda: calls.append(None)] = None
    for at in range(3):
        table.apply(None, stored(f"v{at + 1}", "own.example.com"))
        table.report()
    assert not calls
    remote = stored("v1", "remote.example.com", SERVICE)
    table.apply(None, remote)
    table.report()
    table.apply(remote, None)
    table.report()
    assert len(calls) == 2
