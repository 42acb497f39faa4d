"""Which API services definitions want."""

from __future__ import annotations

from hydrofoil.aggregation.wanted import Wanted, services_of
from hydrofoil.engine import Stored
from hydrofoil.registry.outlines import Outlines
from tests.unit.parts import draft, resource


def stored(plural: str, *versions: str, group: str = "e.com", off: tuple[str, ...] = ()) -> Stored:
    """A stored definition."""
    names = {"plural": plural, "kind": plural.title()}
    served = [{"name": v, "served": v not in off, "storage": v == versions[0]} for v in versions]
    body = {"metadata": {"name": f"{plural}.{group}"}, "spec": {"group": group, "names": names, "versions": served}}
    made = draft(resource("customresourcedefinitions", "apiextensions.k8s.io"), body)
    made.set_type()
    return made.preview(1)


def test_versions_that_are_served_have_a_service() -> None:
    assert services_of(Outlines().of(stored("a", "v1", "v2", off=("v2",)))) == {"v1.e.com"}
    assert services_of(None) == frozenset()


def test_a_service_is_wanted_until_the_last_definition_leaves_it() -> None:
    wanted = Wanted(Outlines())
    one, two = stored("a", "v1"), stored("b", "v1", "v2")
    wanted.replace([one, two])
    assert wanted.changed() == ["v1.e.com", "v2.e.com"] and wanted.changed() == []
    wanted.apply(two, None)
    assert wanted.wants("v1.e.com") and not wanted.wants("v2.e.com")
    wanted.replace([])
    assert not wanted.wants("v1.e.com")


def test_a_version_that_is_no_longer_served_is_left() -> None:
    wanted = Wanted(Outlines())
    old = stored("a", "v1", "v2")
    wanted.apply(None, old)
    wanted.changed()
    wanted.apply(old, stored("a", "v1", "v2", off=("v2",)))
    assert wanted.changed() == ["v2.e.com"]
    assert not wanted.wants("v2.e.com")
