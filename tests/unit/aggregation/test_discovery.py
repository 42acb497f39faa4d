"""Reports of services on their resources, in the form of aggregated discovery."""

from __future__ import annotations

from hydrofoil.aggregation.fetch import to_aggregated, with_kinds


def test_resources_of_an_old_document() -> None:
    found = to_aggregated(
        [
            {"name": "things", "namespaced": True, "kind": "Thing", "verbs": ["get"], "shortNames": ["th"]},
            {"name": "things/status", "kind": "Thing", "verbs": ["get"]},
            {"name": "others/scale", "kind": "Scale", "group": "autoscaling", "version": "v1"},
        ]
    )
    things, others = found
    assert things["scope"] == "Namespaced" and things["shortNames"] == ["th"]
    assert [s["subresource"] for s in things["subresources"]] == ["status"]
    assert (others["scope"], others["verbs"]) == ("Cluster", [])
    assert others["subresources"][0]["responseKind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}


def test_every_resource_has_a_kind_be_it_empty() -> None:
    empty = {"group": "", "version": "", "kind": ""}
    given = {"version": "v1", "resources": [{"resource": "a", "subresources": [{"subresource": "b"}]}]}
    (made,) = with_kinds(given)["resources"]
    assert made["responseKind"] == made["subresources"][0]["responseKind"] == empty
    assert with_kinds({"version": "v1"}) == {"version": "v1"}
