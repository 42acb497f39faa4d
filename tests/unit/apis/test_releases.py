"""Releases: the newest is whole, and each other one is a difference to its neighbour."""

from __future__ import annotations

import pytest

from hydrofoil.apis.catalog import Catalog
from hydrofoil.apis.releases.data import load, minors
from hydrofoil.apis.releases.release import Release, default_release


def test_each_release_has_the_parts_of_its_neighbour_that_it_does_not_change() -> None:
    assert minors() == (33, 34, 35, 36)
    newest, older = load(36), load(35)
    assert set(older.gates) == set(newest.gates)
    assert older.gates["ComponentFlagz"] == ("ALPHA", False, False) != newest.gates["ComponentFlagz"]
    assert older.gates["WatchList"] == newest.gates["WatchList"]
    assert (older.dependencies, older.resources) == (newest.dependencies, newest.resources)
    assert load(33) == load(34) == older


@pytest.mark.parametrize(("on", "served"), [(True, True), (False, False)])
def test_a_gate_decides_whether_a_resource_is_served(on: bool, served: bool) -> None:
    release = Release.of(gates={"StorageVersionMigrator": on})
    assert release.serves("storagemigration.k8s.io", "storageversionmigrations") is served
    assert release.serves("", "pods")


def test_servers_of_the_same_release_share_the_types() -> None:
    first, again = Catalog(), Catalog({"api/all": True})
    other = Catalog(release=Release.of(gates={"EnvFiles": False}))
    assert first.native is again.native and first.native is not other.native
    assert default_release().minor == 36
