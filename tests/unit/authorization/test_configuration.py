"""The file of authorizers (apiserver `pkg/apis/apiserver/validation`, kubeapiserver `options`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.authorization.configuration import Configured, load
from hydrofoil.go_text import format_duration

RBAC = {"type": "RBAC", "name": "rbac"}


def file(*authorizers: Any, **changes: Any) -> bytes:
    head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
    return json.dumps({**head, "authorizers": list(authorizers), **changes}).encode()


@pytest.fixture
def webhook(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "kubeconfig"
    path.write_text("")
    return {
        "timeout": "3s",
        "failurePolicy": "Deny",
        "subjectAccessReviewVersion": "v1",
        "matchConditionSubjectAccessReviewVersion": "v1",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": str(path)},
    }


def of(webhook: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"type": "Webhook", "name": "hook", "webhook": {**webhook, **changes}}


def refusal(*authorizers: Any, **changes: Any) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        load(file(*authorizers, **changes))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_times_have_defaults_and_caches_a_switch(webhook: dict[str, Any]) -> None:
    """A TTL of 0s is the default; only the switches keep nothing (access.md)."""
    (hook,) = load(file(of(webhook, authorizedTTL="0s")))
    assert hook.webhook is not None
    assert (hook.webhook.allowed_ttl, hook.webhook.refused_ttl, hook.webhook.deny) == (300.0, 30.0, True)
    (hook,) = load(file(of(webhook, cacheAuthorizedRequests=False, cacheUnauthorizedRequests=False)))
    assert hook.webhook is not None
    assert (hook.webhook.allowed_ttl, hook.webhook.refused_ttl) == (0.0, 0.0)


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_each_version_is_read(version: str) -> None:
    assert load(file(RBAC, apiVersion=f"apiserver.config.k8s.io/{version}")) == (Configured("RBAC", "rbac"),)


def test_yaml_is_read() -> None:
    text = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n"
    assert load(f"{text}- type: RBAC\n  name: rbac\n".encode()) == (Configured("RBAC", "rbac"),)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"timeout": "31s"}, 'timeout: Invalid value: "31s": must be > 0s and <= 30s'),
        ({"timeout": None}, "timeout: Required value"),
        ({"timeout": "long"}, 'time: invalid duration "long"'),
        ({"authorizedTTL": "-1s"}, 'authorizedTTL: Invalid value: "-1s": must be > 0s'),
        ({"failurePolicy": "Ask"}, 'failurePolicy: Unsupported value: "Ask": supported values: "NoOpinion", "Deny"'),
        ({"failurePolicy": ""}, "failurePolicy: Required value"),
        ({"subjectAccessReviewVersion": "v2"}, 'Unsupported value: "v2": supported values: "v1", "v1beta1"'),
        ({"connectionInfo": {}}, "connectionInfo.type: Required value"),
        (
            {"connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": "a"}},
            'connectionInfo.kubeConfigFile: Invalid value: "a": must be an absolute path',
        ),
        (
            {"connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": "/absent"}},
            'Invalid value: "/absent": error loading file: stat /absent: no such file or directory',
        ),
        (
            {"connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": "/"}},
            'Invalid value: "/": must be a regular file',
        ),
        ({"matchConditions": [{"expression": " "}]}, "matchConditions[0].expression: Required value"),
        ({"matchConditions": [{"expression": "true"}] * 2}, 'matchConditions[1].expression: Duplicate value: "true"'),
        (
            {"matchConditions": [{"expression": "1"}]},
            'matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
        ),
        ({"matchConditions": [{"expression": "request.other"}]}, "undefined field 'other'"),
        ({"matchConditions": [{"expression": f"{n} == 1"} for n in range(65)]}, "Too many: 65"),
        (
            {"matchConditions": [{"expression": "true"}], "matchConditionSubjectAccessReviewVersion": ""},
            "Required value: required if match conditions are specified",
        ),
        ({"other": 1}, 'strict decoding error: unknown field "authorizers[0].webhook.other"'),
        ({"cacheAuthorizedRequests": "no"}, "json: cannot unmarshal string"),
    ],
)
def test_a_webhook_is_checked(webhook: dict[str, Any], changes: dict[str, Any], expected: str) -> None:
    assert expected in refusal(of(webhook, **changes))


def test_authorizers_are_checked(webhook: dict[str, Any]) -> None:
    assert refusal() == "authorizers: Required value: at least one authorization mode must be defined"
    assert 'authorizers[1].type: Duplicate value: "RBAC"' in refusal(RBAC, RBAC)
    assert 'authorizers[0].type: Unsupported value: "Strange"' in refusal({"type": "Strange", "name": "a"})
    assert "authorizers[0].name: Required value" in refusal({"type": "RBAC"})
    assert 'authorizers[1].name: Duplicate value: "hook"' in refusal(of(webhook), of(webhook))
    assert "authorizer name is invalid" in refusal({**of(webhook), "name": "Up"})
    assert "may only be specified when type=Webhook" in refusal({**RBAC, "webhook": webhook})
    assert "required when type=Webhook" in refusal({"type": "Webhook", "name": "hook"})
    assert refusal({**RBAC, "name": "roles"}) == "expected name rbac for authorizer RBAC instead of roles"
    assert len(load(file(of(webhook), {**of(webhook), "name": "other"}, RBAC))) == 3


def test_the_file_is_checked() -> None:
    assert "no kind" in refusal(RBAC, kind="Other")
    assert "no kind" in refusal(RBAC, apiVersion="apiserver.config.k8s.io/v9")
    assert 'unknown field "more"' in refusal(RBAC, more=1)
    with pytest.raises(ValueError, match="failed to load AuthorizationConfiguration from file"):
        load(b"kind: [[[")
    with pytest.raises(ValueError, match="missing required types: \\[Node RBAC\\]"):
        load(file({"type": "AlwaysDeny", "name": "alwaysdeny"}), {"Node", "RBAC"})


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0s"), (3, "3s"), (90, "1m30s"), (3600, "1h0m0s"), (0.5, "500ms"), (1.5, "1.5s"), (-1, "-1s"), (1e-6, "1µs")],
)
def test_durations_are_shown_as_go_does(seconds: float, expected: str) -> None:
    assert format_duration(seconds) == expected
