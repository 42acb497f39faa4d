"""Versions that are emulated."""

from __future__ import annotations

import pytest

from hydrofoil.apis.catalog import Catalog
from hydrofoil.apis.emulation import minor_of, minor_of_introduction, parse_emulated_version
from hydrofoil.apis.gates import Gates
from hydrofoil.apis.releases.release import Release
from hydrofoil.options import Refused, Texts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", 'could not parse "x"'),
        ("1.35.1", "patch version not allowed, got: kube=1.35.1"),
        ("a=1.35", "component not"),
    ],
)
def test_malformed_versions_are_refused(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        parse_emulated_version(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "1.20",
            r"^\[emulation version 1.20 is not between \[1.33, 1.36.0\], minCompatibilityVersion version 1.33 is not",
        ),
        ("1.37", r"^emulation version 1.37 is not between \[1.33, 1.36.0\]$"),
        ("2.35", "^emulation version 2.35"),
    ],
)
def test_versions_out_of_range_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        minor_of(parse_emulated_version(text))


def test_resources_and_features_are_those_of_the_version() -> None:
    assert minor_of(Texts()) == 36 and minor_of(parse_emulated_version("kube=1.35")) == 35
    assert minor_of_introduction({"introduced": "1.36"}) == 36 and minor_of_introduction({}) == 0
    before, now = (Catalog(release=Release.of((version,))) for version in ("1.35", "1.36"))
    assert before.find("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies") is None
    assert now.find("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies") is not None
    assert not Gates({}, 35).enabled("ComponentFlagz") and Gates({}, 36).enabled("ComponentFlagz")
    assert Gates({"ComponentFlagz": True}, 35).enabled("ComponentFlagz")
