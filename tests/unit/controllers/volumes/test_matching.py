"""Which volume a claim gets (component-helpers `storage/volume/pv_helpers.go`)."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.controllers.objects.volumes import why_unfit
from hydrofoil.controllers.volumes.matching import find_matching_volume
from tests.unit.values import claim, volume

OFFER = {"namespace": "a", "name": "c"}


def test_the_smallest_volume_that_is_large_enough_is_taken() -> None:
    volumes = [volume("large", "10Gi"), volume("small", "1Mi"), volume("right", "2Gi")]
    found = find_matching_volume(claim("c", "1Gi"), volumes)
    assert found is not None and found.metadata.name == "right"
    assert find_matching_volume(claim("c", "20Gi"), volumes) is None


@pytest.mark.parametrize(
    "spec",
    [
        {"storageClassName": "other"},
        {"volumeMode": "Block"},
        {"accessModes": ["ReadOnlyMany"]},
        {"claimRef": {"namespace": "b", "name": "c"}},
        {"claimRef": {**OFFER, "uid": "another"}},
        {"volumeAttributesClassName": "fast"},
    ],
)
def test_other_volumes_do_not_do(spec: dict[str, Any]) -> None:
    assert find_matching_volume(claim("c"), [volume("v", **spec)]) is None


def test_an_offer_comes_before_all_others() -> None:
    offered = volume("offered", "10Gi", phase="Pending", claimRef=OFFER, storageClassName="other")
    found = find_matching_volume(claim("c"), [volume("v"), offered], delays=True)
    assert found is offered


def test_a_claim_that_waits_for_its_pod_takes_no_volume_before() -> None:
    assert find_matching_volume(claim("c"), [volume("v")], delays=True) is None
    found = find_matching_volume(claim("c"), [volume("v"), volume("w")], on_node=lambda v: v.metadata.name == "w")
    assert found is not None and found.metadata.name == "w"


def test_a_volume_says_why_it_does_not_do_for_a_claim_that_names_it() -> None:
    given = claim("c", "2Gi")
    assert why_unfit(volume("v"), given) == "requested PV is too small"
    assert why_unfit(volume("v", "2Gi", storageClassName="x"), given) == "storageClassName does not match"
    assert why_unfit(volume("v", "2Gi", volumeMode="Block"), given) == "incompatible volumeMode"
    assert why_unfit(volume("v", "2Gi", accessModes=[]), given) == "incompatible accessMode"
    assert not why_unfit(volume("v", "2Gi"), given)
