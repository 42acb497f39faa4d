"""The configuration of the PodSecurity plug-in."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.admission.pod_security.configuration import Configuration, parse_configuration
from hydrofoil.admission.pod_security.policy import PREFIX, Policy, Standard, policy

HEAD = {"kind": "PodSecurityConfiguration", "apiVersion": "pod-security.admission.config.k8s.io/v1"}


def test_without_a_document_everything_is_allowed() -> None:
    assert parse_configuration({}) == parse_configuration(HEAD) == Configuration()
    assert Configuration().default.idle


def test_defaults_and_exemptions() -> None:
    found = parse_configuration(
        {
            **HEAD,
            "defaults": {"enforce": "baseline", "enforce-version": "v1.30", "warn": "restricted"},
            "exemptions": {"usernames": ["root"], "namespaces": ["kube-system"], "runtimeClasses": ["vm"]},
        }
    )
    assert found.default == Policy(Standard("baseline", 30), Standard(), Standard("restricted"))
    assert found.default.compact() == "enforce=baseline:v1.30, warn=restricted:latest"
    names = [*found.usernames, *found.namespaces, *found.runtime_classes]
    assert names == ["root", "kube-system", "vm"]


def test_labels_win_over_defaults() -> None:
    default = Policy(Standard("restricted", 30), Standard("baseline"), Standard())
    assert policy({}, default) == default
    found = policy({f"{PREFIX}enforce": "privileged", f"{PREFIX}enforce-version": "latest"}, default)
    assert (found.enforce, found.audit) == (Standard("privileged"), Standard("baseline"))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kind": "X", "apiVersion": "v1"}, 'no kind "X" is registered for version "v1"'),
        ({**HEAD, "default": {}}, 'strict decoding error: unknown field "default"'),
        ({**HEAD, "defaults": {"forbid": "x"}}, 'strict decoding error: unknown field "defaults.forbid"'),
        ({**HEAD, "exemptions": ["a"]}, "exemptions must be an object"),
        ({**HEAD, "exemptions": {"usernames": "a"}}, "exemptions.usernames must be a list of strings"),
        (
            {**HEAD, "defaults": {"warn": "x"}},
            'defaults.warn: Invalid value: "x": must be one of privileged, baseline, restricted',
        ),
        (
            {**HEAD, "defaults": {"warn-version": "2"}, "exemptions": {"namespaces": ["a", "a"]}},
            '[defaults.warn-version: Invalid value: "2": must be "latest" or "v1.x", '
            'exemptions.namespaces[1]: Duplicate value: "a"]',
        ),
    ],
)
def test_what_is_wrong_is_one_line(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError) as found:
        parse_configuration(given)
    assert str(found.value) == why
