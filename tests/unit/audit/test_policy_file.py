"""Files of audit policies, and their refusals."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.audit.level import METADATA, RECEIVED, RESPONSE
from hydrofoil.audit.policy_file import LARGEST, load, read
from hydrofoil.request import parse

HEAD = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy"}


def policy(*rules: Any, **more: Any) -> bytes:
    return json.dumps(HEAD | {"rules": rules} | more).encode()


def test_stages_and_managed_fields_are_those_of_rule_and_policy() -> None:
    made = read(
        policy(
            {"level": "Metadata", "verbs": ["get"], "omitStages": ["Panic"], "omitManagedFields": False},
            {"level": "RequestResponse"},
            omitStages=["RequestReceived"],
            omitManagedFields=True,
        )
    )
    first, second = made.choose(None, parse("GET", "/x")), made.choose(None, parse("PUT", "/x"))
    assert (first.level, first.omitted, first.omits_managed) == (METADATA, frozenset((RECEIVED, "Panic")), False)
    assert (second.level, second.omitted, second.omits_managed) == (RESPONSE, frozenset((RECEIVED,)), True)


def test_yaml_is_read() -> None:
    text = b"apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: None\n  users: [a]\n- level: Request\n"
    assert len(read(text).rules) == 2


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "failed decoding: "),
        (b"{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}", "failed decoding: "),
        (b"a: [", "failed decoding: "),
        (b'{"apiVersion":"v1","kind":"ConfigMap"}', 'failed decoding: no kind "ConfigMap" is registered'),
        (b'{"apiVersion":"audit.k8s.io/v1beta1","kind":"Policy"}', "failed decoding: no kind"),
        (policy(), "loaded illegal policy with 0 rules"),
        (policy({"level": 7}), r"failed decoding: rules\[0\].level must be text"),
        (policy({"level": "None", "users": "a"}), r"failed decoding: rules\[0\].users must be a list of text"),
        (policy(7), r"failed decoding: rules must be a list of objects"),
        (policy({"level": "None", "omitManagedFields": "x"}), "omitManagedFields must be true or false"),
        (policy({}), r"rules\[0\].level: Required value"),
        (policy({"level": "All"}), r"rules\[0\].level: Unsupported value: \"All\": supported values: \"None\", "),
        (policy({"level": "None"}, omitStages=["x"]), r"omitStages\[0\]: Invalid value: \"x\": allowed stages are R"),
        (policy({"level": "None", "omitStages": ["x"]}), r"rules\[0\].omitStages\[0\]: Invalid value"),
        (policy({"level": "None", "nonResourceURLs": ["a*b"]}), r"^\[rules.*begin with a '/'.*must be the final"),
        (policy({"level": "None", "nonResourceURLs": ["/a"], "namespaces": ["n"]}), "both regular resources and"),
        (policy({"level": "None", "resources": [{"group": "a/v1"}]}), "resources.group: Invalid value"),
        (policy({"level": "None", "resources": [{"group": "a" * 254}]}), "no more than 253 characters"),
        (policy({"level": "None", "resources": [{"resourceNames": ["a"]}]}), "requires at least one resource"),
        (b" " * (LARGEST + 1), "larger than"),
    ],
)
def test_a_policy_is_refused_in_one_line(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why) as refused:
        read(data)
    assert "\n" not in str(refused.value)


def test_unknown_members_are_reported_and_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        read(policy({"level": "None", "person": "a"}, spare=1))
    assert 'unknown field "spare", unknown field "rules[0].person"' in caplog.text


def test_refusals_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    with pytest.raises(ValueError, match=f'failed to read file path "{path}": open {path}: no such file'):
        load(str(path))
    path.write_bytes(policy())
    with pytest.raises(ValueError, match=f"^loading audit policy file: loaded illegal.* 0 rules: from file {path}$"):
        load(str(path))
