"""The parts of rehearsals that need no server: differences, reports, conflicts, scopes, rights and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.cli.failure import Failure
from hydrofoil.cli.rehearse.apply import find_owners
from hydrofoil.cli.rehearse.columns import compare_columns
from hydrofoil.cli.rehearse.differences import added_fields, describe_differences, differences, lost_fields
from hydrofoil.cli.rehearse.grants import requests, user_of
from hydrofoil.cli.rehearse.probes import prepare
from hydrofoil.cli.rehearse.reading import is_audit_log, read_change
from hydrofoil.cli.rehearse.recorded import forget_versions
from hydrofoil.cli.rehearse.report import SHOWN, Report, name_of
from hydrofoil.cli.rehearse.rights import MODES, OPEN, modes_of, read_user
from hydrofoil.cli.rehearse.scope import scope_of
from hydrofoil.cli.rehearse.versions import describe_versions, probe_version
from hydrofoil.controls.documents import Document
from hydrofoil.dumps.order import DumpIndex
from hydrofoil.errors import ApiError
from hydrofoil.server.dumped_log import Contents

Object = dict[str, Any]
NOTHING = Contents(DumpIndex(), 0, [])


def test_differences_are_found_in_maps_and_lists() -> None:
    before = {"a": {"b": 1, "c": 2}, "l": [1, {"x": 1}], "same": [1]}
    after = {"a": {"b": 2}, "l": [1, {"x": 1}, 3], "same": [1], "d/e": ""}
    fields = [field for field, _, _ in differences(before, after)]
    assert fields == [".a.b", ".a.c", ".l[2]", '["d/e"]']


def test_what_a_server_assigns_is_no_difference() -> None:
    one = {"metadata": {"name": "n", "resourceVersion": "1", "managedFields": [1]}, "a": 1}
    assert describe_differences(one, {"metadata": {"name": "n", "generation": 3}, "a": 1}) == []
    assert lost_fields(one, {"metadata": {}}) == [".metadata.name", ".a"]
    assert added_fields({"metadata": {}}, one) == [".metadata.name", ".a"]
    assert lost_fields({"apiVersion": "a/v1", "metadata": {}}, {"apiVersion": "a/v2", "metadata": {}}) == []


def test_values_of_secrets_are_hidden() -> None:
    before, after = ({"kind": "Secret", "metadata": {}, "type": text, "data": {"k": text}} for text in "ab")
    assert describe_differences(before, after) == [
        {"field": ".type", "before": "a", "after": "b"},
        {"field": ".data.k", "before": "***", "after": "***"},
    ]


def test_a_report_is_a_table_or_json() -> None:
    report = Report("refused")
    assert (report.code, report.text()) == (0, "")
    entry = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web\x1b", "reason": "no\nway"}
    report.content = {"refused": [entry]}
    report.add_rows("refused", [entry])
    report.add_line("1 refused")
    assert report.code == 1 and json.loads(report.json()) == report.content
    heading, row, line = report.text().splitlines()
    assert heading.split() == ["OUTCOME", "OBJECT", "DETAIL"]
    assert row == "refused  deployment.apps/web? -n shop  no?way" and line == "1 refused"
    report.add_rows("refused", [entry] * (SHOWN + 2))
    assert "and 2 more" in report.text()
    assert name_of({"kind": "Pod", "apiVersion": "v1", "name": "p"}) == "pod/p"


@pytest.mark.parametrize(
    ("message", "owner"),
    [
        ('conflict with "helm"', {"manager": "helm"}),
        ('conflict with "helm" using apps/v1', {"manager": "helm", "version": "apps/v1"}),
        (
            'conflict with "k" with subresource "scale" using apps/v1 at 2026-01-01T00:00:00Z',
            {"manager": "k", "subresource": "scale", "version": "apps/v1"},
        ),
    ],
)
def test_owners_are_read_from_conflicts(message: str, owner: Object) -> None:
    cause = {"reason": "FieldManagerConflict", "field": ".spec.replicas", "message": message}
    assert find_owners(ApiError(409, "Conflict", "", {"causes": [cause]})) == [{"field": ".spec.replicas", **owner}]
    assert find_owners(ApiError(409, "AlreadyExists", "", {})) == []
    assert find_owners(ApiError(422, "Invalid", "", {"causes": [cause]})) == []


def change(*contents: Object) -> list[Document]:
    return [Document("file", content) for content in contents]


def policy(resources: list[str], operations: list[str]) -> Object:
    rules = [{"resources": resources, "operations": operations}]
    spec = {"matchConstraints": {"resourceRules": rules}}
    return {"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}


BINDING = {"kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": {"policyName": "p"}}


def test_only_what_a_policy_may_concern_is_tried() -> None:
    found = scope_of(change(policy(["pods/status", "deployments"], ["CREATE"]), BINDING))
    assert found.concerns("pods") and found.concerns("deployments") and not found.concerns("nodes")
    assert found.operations == ["create"]
    for contents in ([BINDING], [policy(["pods"], ["*"]), {"kind": "Namespace"}], [policy(["*"], ["*"]), BINDING]):
        every = scope_of(change(*contents))
        assert every.concerns("nodes") and list(every.operations) == ["update", "create", "delete"]
    hooks = {"kind": "MutatingWebhookConfiguration", "webhooks": [{"rules": [{"resources": ["a"], "operations": []}]}]}
    assert not scope_of(change(hooks)).concerns("b")
    assert scope_of(change({**hooks, "webhooks": [{"rules": [{}]}]})).concerns("b")


def test_a_new_service_asks_for_no_address() -> None:
    spec = {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": [{"port": 1, "nodePort": 30000}]}
    service = {"kind": "Service", "metadata": {"name": "s", "uid": "u", "resourceVersion": "3"}, "spec": spec}
    assert prepare("update", "/s/s", service) == ("PUT", "/s/s", service)
    assert prepare("delete", "/s/s", service) == ("DELETE", "/s/s", None)
    method, path, body = prepare("create", "/s/s", service)
    assert (method, path) == ("POST", "/s")
    assert body == {"kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 1}]}}


def test_versions_of_a_definition() -> None:
    def make(*versions: tuple[str, bool, bool], stored: tuple[str, ...] = ()) -> Object:
        listed = [{"name": name, "served": served, "storage": storage} for name, served, storage in versions]
        return {"spec": {"versions": listed}, "status": {"storedVersions": list(stored)}}

    old = make(("v1", True, True), stored=("v0", "v1"))
    new = make(("v1", False, False), ("v2", True, True))
    assert describe_versions(old, new) == {
        "stored": ["v0", "v1"],
        "storage": "v2",
        "old": ["v0", "v1"],
        "unserved": ["v1"],
        "removed": ["v0"],
    }
    assert probe_version(old, "v1") == "v1" and probe_version(new, "v1") == "v2"
    assert probe_version(make(("v1", False, True)), "v1") == ""


def test_columns_that_come_go_and_change() -> None:
    def make(**columns: str) -> Object:
        listed = [{"name": name, "jsonPath": path, "type": "string"} for name, path in columns.items()]
        return {"spec": {"versions": [{"name": "v1", "additionalPrinterColumns": listed}]}}

    table = {"columnDefinitions": [{"name": "Name"}, {"name": "B"}], "rows": [["x", None], ["y", "1"]]}
    found = compare_columns({"v1": table}, {"v1": table}, make(A=".a", B=".b", C=".c"), make(B=".bb", C=".c", D=".d"))
    assert [(one["name"], one["change"], one["empty"]) for one in found] == [
        ("A", "removed", 0),
        ("B", "changed", 1),
        ("D", "added", 0),
    ]


def test_rules_are_single_requests() -> None:
    rules = [
        {"apiGroups": ["", "apps"], "resources": ["pods/log"], "verbs": ["get"], "resourceNames": ["a"]},
        {"nonResourceURLs": ["/x"], "verbs": ["get", "post"]},
    ]
    found = [(one.verb, one.group, one.resource, one.subresource, one.name, one.path) for one in requests(rules, "n")]
    assert found == [
        ("get", "", "pods", "log", "a", ""),
        ("get", "apps", "pods", "log", "a", ""),
        ("get", "", "", "", "", "/x"),
        ("post", "", "", "", "", "/x"),
    ]
    assert user_of({"kind": "Group", "name": "g"}, "n").groups == ("g",)
    assert user_of({"kind": "ServiceAccount", "name": "a"}, "n").name == "system:serviceaccount:n:a"


def test_rights_are_judged_where_somebody_was_given_some() -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}}
    assert modes_of(NOTHING, change(policy(["pods"], ["*"]))) == OPEN
    assert modes_of(NOTHING, change(role)) == MODES


def test_users_of_records() -> None:
    record = {"user": {"username": "a"}, "impersonatedUser": {"username": "b", "groups": ["g"], "extra": {"k": ["v"]}}}
    user = read_user(record)
    assert (user.name, user.groups, user.extra) == ("b", ("g",), {"k": ("v",)})
    assert read_user({}).name == ""


def test_versions_of_a_log_are_forgotten() -> None:
    body = {"metadata": {"name": "a", "resourceVersion": "1", "uid": "u"}, "preconditions": {"uid": "u"}}
    assert json.loads(forget_versions(json.dumps(body).encode())) == {"metadata": {"name": "a"}}
    assert forget_versions(b"") == b"" and forget_versions(b"[1]") == b"[1]"


def test_an_audit_log_is_known_by_its_events(tmp_path: Path) -> None:
    log, file = tmp_path / "log", tmp_path / "a.yaml"
    log.write_text('\n{"kind":"Event","apiVersion":"audit.k8s.io/v1"}\n')
    file.write_text("kind: ConfigMap\napiVersion: v1\n")
    assert is_audit_log(str(log)) and not is_audit_log(str(file)) and not is_audit_log(str(tmp_path / "none"))
    found, place = read_change([str(file), str(log)])
    assert ([one.content["kind"] for one in found], place) == (["ConfigMap"], str(log))
    other = tmp_path / "other"
    other.write_text(log.read_text())
    with pytest.raises(Failure, match="are audit logs"):
        read_change([str(log), str(other)])
