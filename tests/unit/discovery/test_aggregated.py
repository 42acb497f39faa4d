"""Aggregated discovery."""

from __future__ import annotations

import json

from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.discovery.aggregated import Aggregated, plain_clauses
from tests.unit.aggregation.services import SERVICE, stored
from tests.unit.parts import CATALOG

AS = "as=APIGroupDiscoveryList"


def test_clauses_that_only_aggregated_discovery_meets() -> None:
    assert plain_clauses(f"application/json;{AS},application/yaml") == "application/yaml"


def test_what_a_service_serves_stands_among_what_is_served_here() -> None:
    table = Registrations()
    made = Aggregated(CATALOG, table)
    before, etag = made.document(core=False)
    assert (before, etag) == made.document(core=False)
    assert made.count == 1
    table.replace([stored("v1", "e.com", SERVICE, groupPriorityMinimum=30_000)])
    assert made.document(core=False)[1] == etag, "nothing is known of it yet"
    table.discover("v1.e.com", {"version": "v1", "resources": [], "freshness": "Current"})
    items = json.loads(made.document(core=False)[0])["items"]
    assert items[0] == {
        "metadata": {"name": "e.com"},
        "versions": [{"version": "v1", "resources": [], "freshness": "Current"}],
    }
    core = json.loads(made.document(core=True)[0])["items"]
    assert [item["metadata"] for item in core] == [{}]
