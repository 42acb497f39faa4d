"""Aggregated discovery."""

from __future__ import annotations

import json

import pytest

from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.discovery.aggregated import Aggregated, aggregated_version, plain_clauses
from tests.unit.aggregation.test_registrations import SERVICE, stored
from tests.unit.parts import CATALOG

AS = "as=APIGroupDiscoveryList"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (f"application/json;g=apidiscovery.k8s.io;v=v2;{AS},application/json", "v2"),
        (f"application/json;g=apidiscovery.k8s.io;v=v2beta1;{AS},application/json", ""),
        (f"application/json,application/json;g=apidiscovery.k8s.io;v=v2;{AS}", ""),
        (f"application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;{AS}", ""),
        ("", ""),
    ],
)
def test_which_document_is_asked_for(accept: str, wanted: str) -> None:
    assert aggregated_version(accept) == wanted


def test_clauses_that_only_aggregated_discovery_meets() -> None:
    assert plain_clauses(f"application/json;{AS},application/yaml") == "application/yaml"


def test_what_a_service_serves_stands_among_what_is_served_here() -> None:
    table = Registrations()
    made = Aggregated(CATALOG, table)
    before, etag = made.document(core=False, version="v2")
    assert (before, etag) == made.document(core=False, version="v2")
    table.replace([stored("v1", "e.com", SERVICE, groupPriorityMinimum=30_000)])
    assert made.document(core=False, version="v2")[1] == etag, "nothing is known of it yet"
    table.discover("v1.e.com", {"version": "v1", "resources": [], "freshness": "Current"})
    items = json.loads(made.document(core=False, version="v2")[0])["items"]
    assert items[0] == {
        "metadata": {"name": "e.com"},
        "versions": [{"version": "v1", "resources": [], "freshness": "Current"}],
    }
    core = json.loads(made.document(core=True, version="v2")[0])["items"]
    assert [item["metadata"] for item in core] == [{}]
