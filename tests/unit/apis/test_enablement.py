"""`--runtime-config`: unknown keys are refused with upstream's message (GR-03, GR-04)."""

from __future__ import annotations

import pytest

from hydrofoil.apis.catalog import Catalog
from hydrofoil.apis.enablement import EnablementError


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("zzz", "runtime-config invalid key zzz"),
        ("a/b/c/d", "runtime-config invalid key a/b/c/d"),
        ("nothing/v1", "unknown api groups nothing/v1"),
        ("api/gamma", "unknown api groups api/gamma"),
        ("apps/v9", "group version apps/v9 that has not been registered"),
        ("batch/v2alpha1", "group version batch/v2alpha1 that has not been registered"),
        (
            "apps/v1/Deployments",
            "invalid key apps/v1/Deployments: group/version/resource and resource is always "
            'lowercase plural, not "Deployments"',
        ),
    ],
)
def test_refusals(key: str, words: str) -> None:
    with pytest.raises(EnablementError) as refused:
        Catalog({key: True})
    assert str(refused.value) == words


def test_nothing_at_all_is_refused() -> None:
    with pytest.raises(EnablementError, match=r"^invalid runtime-config with only api/all=false$"):
        Catalog({"api/all": False})


@pytest.mark.parametrize(
    "key",
    ["apps/v1/nothings", "batch/v1beta1", "api/legacy", "api/beta", "v1", "v1/pods", "apiextensions.k8s.io/v1beta1"],
)
def test_what_upstream_takes(key: str) -> None:
    assert Catalog({key: False}).groups


def test_the_core_group_has_two_names() -> None:
    assert Catalog({"api/v1/pods": False}).find("", "v1", "pods") is None
    assert set(Catalog({"api/all": False, "v1": True}).groups) == {""}
