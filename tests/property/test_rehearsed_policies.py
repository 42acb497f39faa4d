"""What a rehearsal says of policies and roles is what happens on a server that gets them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvloop
from blockbuster import BlockBuster
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hydrofoil import Server
from hydrofoil.cli.rehearse import audit, policy, roles
from hydrofoil.testing.remote_server import RemoteServer
from tests.property.rehearsals import FLAGS, RBAC, Object, call, create, documents, take_dump

ADMISSION = "admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/{}/configmaps"
SPACES = ("default", "team")
VALUES = st.sampled_from(("1", "2", "3"))
DATA = st.dictionaries(st.sampled_from(("a", "b")), VALUES, max_size=2)
STORED = st.dictionaries(st.tuples(st.sampled_from(SPACES), st.sampled_from(("x", "y", "z"))), DATA, min_size=1)
EXPRESSION = st.sampled_from(
    (
        "!('a' in object.data) || object.data.a != '3'",
        "object.metadata.name != 'x'",
        "oldObject == null || object.data.size() > 0",
        "has(object.data)",
        "false",
    )
)
OPERATIONS = st.lists(st.sampled_from(("CREATE", "UPDATE")), min_size=1, unique=True)
ACTIONS = st.sampled_from((["Deny"], ["Warn"], ["Deny", "Audit"]))


def policies(expression: str, operations: list[str], actions: list[str], namespace: str) -> list[Object]:
    """Return a policy, and its binding, for one namespace or all."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": operations, "resources": ["configmaps"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": expression}]}
    chosen = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}} if namespace else {}
    binding = {"policyName": "p", "validationActions": actions, **({"matchResources": chosen} if chosen else {})}
    head = {"apiVersion": ADMISSION, "metadata": {"name": "p"}}
    return [
        {**head, "kind": "ValidatingAdmissionPolicy", "spec": spec},
        {**head, "kind": "ValidatingAdmissionPolicyBinding", "spec": binding},
    ]


@pytest.fixture(scope="module")
def server() -> Iterator[RemoteServer]:
    """Yield one server for all cases, whose users have the rights that roles give them."""
    with Server.in_thread(authorization_mode="RBAC") as server:
        server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        yield server


@pytest.fixture(autouse=True)
def unguarded(no_blocking: BlockBuster) -> None:
    """Let the test itself wait for another thread."""
    no_blocking.deactivate()


def fill(server: RemoteServer, stored: dict[tuple[str, str], Object]) -> None:
    for (namespace, name), data in stored.items():
        create(server, MAPS.format(namespace), {"metadata": {"name": name}, "data": data})


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stored=STORED,
    expression=EXPRESSION,
    operations=OPERATIONS,
    actions=ACTIONS,
    namespace=st.sampled_from(("", *SPACES)),
)
def test_policies_refuse_what_a_rehearsal_says(
    server: RemoteServer,
    tmp_path: Path,
    stored: dict[tuple[str, str], Object],
    expression: str,
    operations: list[str],
    actions: list[str],
    namespace: str,
) -> None:
    state = server.snapshot()
    try:
        fill(server, stored)
        change = policies(expression, operations, actions, namespace)
        contents = take_dump(server, tmp_path)
        report = uvloop.run(policy.rehearse(contents, documents(*change), "", FLAGS))
        server.apply(change)
        wanted = set()
        for kept in SPACES:
            for item in call(server, "GET", MAPS.format(kept))[1]["items"]:
                name = item["metadata"]["name"]
                code, answer = call(server, "PUT", f"{MAPS.format(kept)}/{name}", item)
                if code >= 400:
                    wanted.add(("update", kept, name, answer["message"]))
                assert call(server, "DELETE", f"{MAPS.format(kept)}/{name}")[0] == 200
                fresh = {"metadata": {"name": name}, "data": item.get("data") or {}}
                code, answer = call(server, "POST", MAPS.format(kept), fresh)
                if code >= 400:
                    wanted.add(("create", kept, name, answer["message"]))
        found = {
            (entry["operation"], entry["namespace"], entry["name"], entry["reason"])
            for entry in report.content["refused"]
            # The authority of a server is written again by its controller.
            if entry["namespace"] in SPACES
        }
        assert found == wanted
        assert report.content["refused_before"] == [] and report.content["invalid"] == []
        assert report.code == bool(report.content["refused"])
        assert (actions != ["Warn"]) or not wanted
    finally:
        server.restore(state)


VERBS = ("get", "list", "create", "update", "delete")
RULE = st.fixed_dictionaries(
    {
        "apiGroups": st.just([""]),
        "resources": st.lists(st.sampled_from(("configmaps", "secrets", "*")), min_size=1, unique=True),
        "verbs": st.lists(st.sampled_from((*VERBS, "*")), min_size=1, unique=True),
    },
    optional={"resourceNames": st.just(["x"])},
)
RULES = st.lists(RULE, max_size=2)
METHODS = {"get": "GET", "list": "GET", "create": "POST", "update": "PUT", "delete": "DELETE"}
REQUEST = st.tuples(st.sampled_from(VERBS), st.sampled_from(SPACES), st.sampled_from(("x", "y")))


def role(rules: list[Object]) -> Object:
    return {"apiVersion": RBAC[6:], "kind": "Role", "metadata": {"name": "r", "namespace": "team"}, "rules": rules}


def binding() -> Object:
    reference = {"apiGroup": RBAC[6:].partition("/")[0], "kind": "Role", "name": "r"}
    subject = {"kind": "User", "name": "jane", "apiGroup": reference["apiGroup"]}
    head = {"apiVersion": RBAC[6:], "kind": "RoleBinding", "metadata": {"name": "r", "namespace": "team"}}
    return {**head, "roleRef": reference, "subjects": [subject]}


def send(server: RemoteServer, request: tuple[str, str, str]) -> tuple[int, Object | None, str]:
    """Send a request of a user; return the code, its body and its path."""
    verb, namespace, name = request
    path = MAPS.format(namespace) + (f"/{name}" if verb not in ("list", "create") else "")
    head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}}
    body = {**head, "data": {"a": "1"}} if verb in ("create", "update") else None
    return call(server, METHODS[verb], path, body, user="jane")[0], body, path


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(
    old=[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create"]}],
    new=[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
    requests=[("create", "team", "y"), ("get", "team", "y")],
)
@given(old=RULES, new=RULES, requests=st.lists(REQUEST, min_size=1, max_size=8))
def test_roles_refuse_what_a_rehearsal_says(
    server: RemoteServer,
    tmp_path: Path,
    old: list[Object],
    new: list[Object],
    requests: list[tuple[str, str, str]],
) -> None:
    state = server.snapshot()
    try:
        server.apply([role(old), binding()])
        begun = server.snapshot()
        lines, recorded = [], {}
        for number, request in enumerate(requests, 1):
            code, body, path = send(server, request)
            recorded[number] = code
            event: Object = {
                "kind": "Event",
                "apiVersion": "audit.k8s.io/v1",
                "stage": "ResponseComplete",
                "level": "Request",
            }
            event |= {"verb": request[0], "requestURI": path, "responseStatus": {"code": code}}
            event |= {"user": {"username": "jane", "groups": ["system:authenticated"]}}
            event |= {"requestReceivedTimestamp": f"2026-01-01T00:00:{number:02}Z"}
            lines.append(json.dumps({**event, **({"requestObject": body} if body else {})}))
        log = tmp_path / "audit.log"
        log.write_text("\n".join(lines))
        server.restore(begun)
        contents = take_dump(server, tmp_path)
        change = documents(role(new))
        report = uvloop.run(roles.rehearse(contents, change, str(log), FLAGS)).content
        also = uvloop.run(audit.rehearse(contents, change, str(log), FLAGS)).content
        assert {k: v for k, v in also.items() if k.startswith("requests")} == {
            k: v for k, v in report.items() if k.startswith("requests")
        }
        server.apply(role(new))
        codes = {number: send(server, request)[0] for number, request in enumerate(requests, 1)}
        allowed = {number for number, code in recorded.items() if code < 400}
        assert report["requests"] == len(allowed) and report["requests_unjudged"] == []
        assert {one["line"] for one in report["requests_refused"]} == {n for n in allowed if codes[n] == 403}
        assert {one["line"] for one in report["requests_follow"]} == {n for n in allowed if codes[n] in (404, 409)}
    finally:
        server.restore(state)
