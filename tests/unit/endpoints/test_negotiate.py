"""Accept and Content-Type."""

from __future__ import annotations

import pytest

from hydrofoil.endpoints.negotiate import JSON, PROTOBUF, YAML, Accepted, body_media, negotiate, patch_kind
from hydrofoil.errors import ApiError

KUBECTL = f"{JSON};as=Table;v=v1;g=meta.k8s.io,{JSON};as=Table;v=v1beta1;g=meta.k8s.io,{JSON}"


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", Accepted(JSON)),
        ("*/*", Accepted(JSON)),
        (YAML, Accepted(YAML)),
        (f"{YAML};q=0.5, {JSON};q=0.9", Accepted(JSON)),
        (f"text/html, {YAML}", Accepted(YAML)),
        (KUBECTL, Accepted(JSON, "Table", "v1")),
        (f"{JSON};as=Table;v=v9;g=meta.k8s.io,{JSON}", Accepted(JSON)),
        (f"{PROTOBUF},{JSON}", Accepted(PROTOBUF)),
        (f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io,{JSON}", Accepted(JSON)),
        (f"{JSON};pretty=1", Accepted(JSON, pretty=True)),
        ("nonsense, application/yaml", Accepted(YAML)),
    ],
)
def test_accept(accept: str, expected: Accepted) -> None:
    """MT-01, MT-02, MT-10, MT-24, MT-27."""
    assert negotiate(accept) == expected


@pytest.mark.parametrize("accept", ["text/html", "application/*", f"{JSON};as=Nothing;v=v1;g=meta.k8s.io"])
def test_not_acceptable(accept: str) -> None:
    """MT-08."""
    with pytest.raises(ApiError) as caught:
        negotiate(accept)
    assert caught.value.code == 406


def test_bodies_and_patches() -> None:
    assert body_media("application/json; charset=utf-8") == "json"
    assert patch_kind("application/merge-patch+json; charset=utf-8") == "merge"
    for bad in ("application/merge-patch+json ;a=b", "", JSON):
        with pytest.raises(ApiError) as caught:
            patch_kind(bad)
        assert caught.value.code == 415
