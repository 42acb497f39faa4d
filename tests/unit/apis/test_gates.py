"""Feature gates: names, stages and locks of 1.36, with upstream's messages (DEP-18 to DEP-23, SSA-58)."""

from __future__ import annotations

import logging

import pytest

from hydrofoil.apis.gates import GateError, Gates


@pytest.mark.parametrize(
    ("name", "on"),
    [
        ("CBORServingAndStorage", False),
        ("AllowUnsafeMalformedObjectDeletion", False),
        ("WatchList", True),
        ("APIResponseCompression", True),
        ("ListFromCacheSnapshot", True),
        ("MutatingAdmissionPolicy", True),
        ("MultiCIDRServiceAllocator", True),
        ("WatchListClient", True),
        ("ComponentStatusz", True),
        ("LoggingAlphaOptions", False),
        ("SystemdWatchdog", True),
        ("ReloadKubeletClientCAFile", True),
    ],
)
def test_defaults(name: str, on: bool) -> None:
    """DEP-18, DEP-19: alpha is off, beta is on."""
    assert Gates({}).enabled(name) is on


def test_every_gate_of_the_release_is_known() -> None:
    states = list(Gates({}).states())
    assert len(states) == 240
    assert {stage for _, stage, _ in states} == {"ALPHA", "BETA", "", "DEPRECATED"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"Nope": True}, "unrecognized feature gate: Nope"),
        ({"ServerSideApply": False}, "unrecognized feature gate: ServerSideApply"),
        ({"ValidatingAdmissionPolicy": True}, "unrecognized feature gate: ValidatingAdmissionPolicy"),
        (
            {"RetryGenerateName": False},
            "cannot set feature gate RetryGenerateName to false, feature is locked to true",
        ),
        (
            {"SidecarContainers": False, "RetryGenerateName": False},
            "[cannot set feature gate SidecarContainers to false, feature is locked to true, "
            "cannot set feature gate RetryGenerateName to false, feature is locked to true]",
        ),
        (
            {"APIServerIdentity": False, "UnknownVersionInteroperabilityProxy": False, "StorageVersionAPI": True},
            "StorageVersionAPI is enabled, but depends on features that are disabled: [APIServerIdentity]",
        ),
    ],
)
def test_refusals(given: dict[str, bool], words: str) -> None:
    """DEP-21, DEP-22, SSA-58."""
    with pytest.raises(GateError) as refused:
        Gates(given)
    assert str(refused.value) == words


def test_what_graduated_or_is_deprecated_warns(caplog: pytest.LogCaptureFixture) -> None:
    """DEP-20, DEP-23."""
    with caplog.at_level(logging.WARNING):
        Gates({"MutatingAdmissionPolicy": False, "KMSv1": True, "WatchList": True, "RetryGenerateName": True})
    text = "gate. It will be removed in a future release."
    assert [r.getMessage() for r in caplog.records] == [
        f'"Warning: setting GA feature {text}" featureGate="MutatingAdmissionPolicy" value=false',
        f'"Warning: setting deprecated feature {text}" featureGate="KMSv1" value=true',
        f'"Warning: setting GA feature {text}" featureGate="RetryGenerateName" value=true',
    ]


def test_all_gates_of_a_stage() -> None:
    """AllAlpha and AllBeta set what is not named itself, whatever the order."""
    off = Gates({"WatchList": True, "AllBeta": False})
    assert off.enabled("WatchList") and not off.enabled("APIResponseCompression") and not off.enabled("AllAlpha")
    assert off.enabled("MutatingAdmissionPolicy")
    on = Gates({"AllAlpha": True, "CBORServingAndStorage": False})
    assert on.enabled("AllowUnsafeMalformedObjectDeletion") and not on.enabled("CBORServingAndStorage")
