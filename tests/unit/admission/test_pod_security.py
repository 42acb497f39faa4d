"""The pod security standards: which rule holds at which version, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.admission.pod_security.checks import BASELINE, OVERRIDES, RESTRICTED, detail, findings
from hydrofoil.admission.pod_security.policy import LATEST, Standard, policy

PREFIX = "pod-security.kubernetes.io/"
SAFE: dict[str, Any] = {
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


def pod(**container: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "securityContext": SAFE, **container}]}


@pytest.mark.parametrize("level", ["privileged", "baseline", "restricted"])
def test_a_careful_pod_is_taken(level: str) -> None:
    assert findings(Standard(level), {}, pod()) == []


def test_findings_are_told_in_order_of_their_rules() -> None:
    spec = {"hostPID": True, "containers": [{"name": "a"}, {"name": "b"}]}
    assert [reason for reason, _ in findings(Standard("restricted"), {}, spec)] == [
        "host namespaces",
        "allowPrivilegeEscalation != false",
        "unrestricted capabilities",
        "runAsNonRoot != true",
        "seccompProfile",
    ]
    text = detail(findings(Standard("baseline"), {}, spec))
    assert text == "host namespaces (hostPID=true)"


@pytest.mark.parametrize(("minor", "refused"), [(33, False), (34, True), (LATEST, True), (99, True)])
def test_a_rule_holds_from_its_version_on(minor: int, refused: bool) -> None:
    spec = pod(livenessProbe={"httpGet": {"host": "h", "port": 1}})
    assert bool(findings(Standard("baseline", minor), {}, spec)) is refused


def test_a_stricter_rule_takes_the_place_of_another() -> None:
    assert set(OVERRIDES) <= set(RESTRICTED)
    assert set(OVERRIDES.values()) <= set(BASELINE)
    spec = {**pod(), "volumes": [{"name": "v", "hostPath": {"path": "/"}}]}
    assert findings(Standard("baseline"), {}, spec) == [("hostPath volumes", 'volume "v"')]
    assert findings(Standard("restricted"), {}, spec) == [
        ("restricted volume types", 'volume "v" uses restricted volume type "hostPath"')
    ]


def test_enforcing_warns_too_unless_told_otherwise() -> None:
    asked = policy({f"{PREFIX}enforce": "baseline", f"{PREFIX}enforce-version": "v1.20"})
    assert str(asked.enforce) == str(asked.warn) == "baseline:v1.20"
    assert policy({f"{PREFIX}enforce": "baseline", f"{PREFIX}warn": "privileged"}).warn.level == "privileged"
    assert policy({}).idle


def test_wrong_labels_mean_the_strictest() -> None:
    asked = policy({f"{PREFIX}enforce": "x", f"{PREFIX}warn-version": "v2"})
    assert asked.enforce == Standard("restricted")
    assert [field for _, _, field in asked.causes] == [
        f"metadata.labels[{PREFIX}enforce]",
        f"metadata.labels[{PREFIX}warn-version]",
    ]
