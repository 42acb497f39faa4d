"""The pages with flags and state."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.clock import Clock
from hydrofoil.errors import ApiError
from hydrofoil.go_text import format_duration
from hydrofoil.options import Texts
from hydrofoil.server.config import ROOMS, Config
from hydrofoil.server.zpages import negotiate_page, settings, text_of

FORM = "application/json;v=v1beta1;g=config.k8s.io;as=Flagz"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0s"), (0.25, "250ms"), (30, "30s"), (60, "1m0s"), (5400, "1h30m0s"), (1.5, "1.5s")],
)
def test_durations_are_shown_as_go_shows_them(seconds: float, expected: str) -> None:
    assert format_duration(seconds) == expected


def test_flags_are_shown_with_their_values() -> None:
    config = Config(emulated_version=Texts(("1.35",)), feature_gates={"WatchList": False}, request_timeout=90.0)
    found = settings(config, ROOMS)
    assert found["emulated-version"] == "[1.35]" and found["feature-gates"] == "WatchList=false"
    assert found["request-timeout"] == "1m30s" and found["profiling"] == "true" and found["watch-cache"] == "true"
    assert found["bind-address"] == found["host"] and list(found) == sorted(found)


@pytest.mark.parametrize("accept", ["", "*/*", "text/plain", "application/json, text/plain"])
def test_text_is_the_usual_form(accept: str) -> None:
    if accept.startswith("application"):
        with pytest.raises(ApiError):
            negotiate_page(accept.partition(",")[0], "Flagz")
    else:
        assert negotiate_page(accept, "Flagz") is None


def test_other_forms_name_their_kind() -> None:
    assert negotiate_page(FORM, "Flagz") == ("application/json", "v1beta1")
    for accept in (FORM.replace("Flagz", "Statusz"), FORM.replace("v1beta1", "v2"), "application/json", "text/html"):
        with pytest.raises(ApiError) as refused:
            negotiate_page(accept, "Flagz")
        assert refused.value.code == 406


def test_text_has_one_line_a_member() -> None:
    assert text_of("Flagz", {"flags": {"a": "b\x1b\n"}}).endswith("\n\na=b??\n")
    members: dict[str, Any] = {"startTime": Clock().text(), "uptimeSeconds": 5, "binaryVersion": "1.36.0"}
    found = text_of("Statusz", members | {"emulationVersion": "1.35", "paths": ["/a", "/b"]})
    assert "Emulation version: 1.35\nPaths: /a /b\n" in found
