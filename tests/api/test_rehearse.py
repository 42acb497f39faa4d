"""`hydrofoil rehearse`: its commands, on dumps and on a server that stays as it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.cli.main import main
from tests.api.conversion import Hook as Converter
from tests.api.conversion import hooked
from tests.api.data_dirs import DEFINITION, called, everything
from tests.api.dumps import fill, run, serving
from tests.api.hooks import hooking
from tests.api.services import Certificate, certificate, listening
from tests.conftest import command

__all__ = ["certificate"]
Object = dict[str, Any]
TYPE = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
MAP: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "team"}}
ROLES = "rbac.authorization.k8s.io"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as found:
        fill(found)
        called(f"{found}/api/v1/namespaces/team/configmaps", {"metadata": {"name": "m"}, "data": {"a": "1"}})
        yield found


@pytest.fixture
def dump(url: str, tmp_path: Path) -> str:
    place = tmp_path / "dump.tar.gz"
    assert run("export", str(place), "--server", url)[0] == 0
    return str(place)


def write(folder: Path, name: str, *contents: Object) -> str:
    place = folder / name
    place.write_text("\n---\n".join(json.dumps(content) for content in contents))
    return str(place)


def limit(folder: Path, **schema: Any) -> str:
    """Return the definition of boats with another schema."""
    (version,) = DEFINITION["spec"]["versions"]  # type: ignore[index]
    properties = {"type": "object", "properties": {"color": {"type": "string"}}, **schema}
    spec = {**DEFINITION["spec"], "versions": [{**version, "schema": {"openAPIV3Schema": properties}}]}  # type: ignore[dict-item]
    return write(folder, "crd.yaml", {**TYPE, **DEFINITION, "spec": spec})


def policy(folder: Path, expression: str, resource: str = "configmaps") -> str:
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "p"}}
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": [resource]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": expression}]}
    return write(
        folder,
        "policy.yaml",
        {**head, "kind": "ValidatingAdmissionPolicy", "spec": spec},
        {
            **head,
            "kind": "ValidatingAdmissionPolicyBinding",
            "spec": {"policyName": "p", "validationActions": ["Deny"]},
        },
    )


def test_a_server_is_read_and_never_written(url: str, tmp_path: Path) -> None:
    before = everything(url)
    files = write(tmp_path, "all.yaml", {**MAP, "data": {"a": "2"}}, {**MAP, "metadata": {"name": "new"}})
    code, found, _ = run("rehearse", "apply", files, "--field-manager", "flux", "--server", url, "--force", "--json")
    assert code == 0
    (changed,), (created,) = found["changed"], found["created"]
    assert changed["diff"] == [{"field": ".data.a", "before": "1", "after": "2"}]
    assert [one["field"] for one in found["taken"][0]["conflicts"]] == [".data.a"]
    assert (created["namespace"], created["name"]) == ("default", "new")
    for words in (
        ("definition", limit(tmp_path, required=["size"])),
        ("policy", policy(tmp_path, "false")),
        ("policy", policy(tmp_path, "false", "*")),
    ):
        assert run("rehearse", *words, "--server", url, "--json")[0] == 1
    assert everything(url) == before


def test_exit_codes(url: str, dump: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    apply = ("rehearse", "apply", write(tmp_path, "m.yaml", {**MAP, "data": {"a": "1"}}))
    flags = ("--field-manager", "flux", "--from", dump)
    assert run(*apply, *flags)[0] == 0
    assert run("rehearse", "definition", limit(tmp_path), "--from", dump)[0] == 0
    assert run("rehearse", "policy", policy(tmp_path, "true"), "--from", dump)[0] == 0
    wrong: list[tuple[str, ...]] = [
        (*apply, "--from", dump),
        (*apply, *flags, "--server", url),
        (*apply, "--field-manager", "flux", "--from", str(tmp_path / "nothing")),
        ("rehearse", "apply", "--field-manager", "flux", "--from", dump),
        ("rehearse", "definition", str(tmp_path / "m.yaml"), "--from", dump),
        ("rehearse", "definition", str(tmp_path / "nothing.yaml"), "--from", dump),
        ("rehearse", "roles", str(tmp_path / "m.yaml"), "--from", dump),
        ("rehearse", "audit", str(tmp_path / "nothing.log"), str(tmp_path / "m.yaml"), "--from", dump),
        ("rehearse", "audit", str(tmp_path / "m.yaml"), "--from", dump),
        ("rehearse", "everything"),
    ]
    assert run(*apply, "--field-manager", "flux", "--server", "http://127.0.0.1:1")[0] == 2
    for words in wrong:
        code, (text, errors) = main(words), capsys.readouterr()
        assert (code, text, errors.count("\n")) == (2, "", 1), (words, errors)


def test_tables_name_what_breaks_and_why(dump: str, tmp_path: Path) -> None:
    new = limit(tmp_path, required=["size"])
    code, text, _ = run("rehearse", "definition", new, "--from", dump)
    assert code == 1 and "boat.example.com/b -n team" in text and "size: Required value" in text
    code, text, _ = run("rehearse", "policy", policy(tmp_path, "false"), "--from", dump)
    assert code == 1 and "configmap/m -n team" in text and "update:" in text and "delete:" in text
    files = write(tmp_path, "m.yaml", {**MAP, "data": {"a": "2"}})
    code, text, _ = run("rehearse", "apply", files, "--field-manager", "flux", "--from", dump)
    assert code == 1 and ".data.a: owned by Python-urllib" in text
    code, text, _ = run("rehearse", "apply", files, "--field-manager", "flux", "--from", dump, "--force")
    assert code == 0 and '.data.a: "1" -> "2"' in text


def test_values_of_secrets_are_not_printed(dump: str, tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "team"}}
    files = write(tmp_path, "s.yaml", {**secret, "stringData": {"a": "hidden"}})
    for more in ((), ("--json",)):
        code, found, _ = run("rehearse", "apply", files, "--field-manager", "x", "--force", "--from", dump, *more)
        shown = json.dumps(found)
        assert code == 0 and "data.a" in shown and "***" in shown
        assert "hidden" not in shown and "c2VjcmV0" not in shown and "aGlkZGVu" not in shown


def test_roles_without_a_log_tell_of_rights(tmp_path: Path) -> None:
    role = {"apiVersion": f"{ROLES}/v1", "kind": "ClusterRole", "metadata": {"name": "r"}}
    reference = {"apiGroup": ROLES, "kind": "ClusterRole", "name": "r"}
    subjects = [{"kind": "ServiceAccount", "name": "robot", "namespace": "team"}]
    binding = {"apiVersion": f"{ROLES}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "r"}}
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
    stored = write(
        tmp_path, "dump.yaml", {**role, "rules": [rule]}, {**binding, "roleRef": reference, "subjects": subjects}
    )
    new = write(tmp_path, "new.yaml", {**role, "rules": [{**rule, "verbs": ["get", "watch"]}]})
    code, found, _ = run("rehearse", "roles", new, "--from", stored, "--json")
    subject = "ServiceAccount system:serviceaccount:team:robot"
    assert code == 1
    assert [(one["subject"], one["verb"]) for one in found["lost"]] == [(subject, "list")]
    assert [one["verb"] for one in found["gained"]] == ["watch"]


def test_records_that_cannot_be_judged_are_named(dump: str, tmp_path: Path) -> None:
    team = "/api/v1/namespaces/team"
    head: Object = {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete", "level": "Request"}
    head |= {"verb": "create", "user": {"username": "jane"}, "responseStatus": {"code": 201}}
    head |= {"requestReceivedTimestamp": "2026-01-01T00:00:00Z", "requestURI": f"{team}/configmaps"}
    body = {"metadata": {"name": "x"}}
    records: list[Object] = [
        {**head, "requestObject": body},
        {**head, "requestObject": body, "responseStatus": {"code": 409}},
        {**head, "requestObject": body, "user": {"username": "a\r\nb"}},
        {**head, "requestObject": body, "requestURI": f"{team}/pods/p/proxy"},
        {**head, "requestObject": body, "requestURI": "/hydrofoil/v1/import"},
        {**head, "requestObject": body, "requestURI": f"{team}/missing"},
        {**head, "level": "Metadata"},
        {**head, "verb": "list"},
    ]
    log = tmp_path / "audit.log"
    log.write_text("".join(json.dumps(record) + "\n" for record in records) + "no JSON\n")
    code, found, _ = run("rehearse", "audit", str(log), policy(tmp_path, "false"), "--from", dump, "--json")
    assert (code, found["requests"], found["requests_follow"]) == (1, 7, [])
    assert [one["line"] for one in found["requests_refused"]] == [1]
    assert [one["line"] for one in found["requests_unjudged"]] == [9, 3, 4, 5, 6, 7]


async def rehearse(*words: str) -> tuple[int, Object]:
    """Run a rehearsal beside the loop, which answers its webhooks."""
    line = command("rehearse", *words, "--json")
    running = await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.PIPE)
    printed, _ = await running.communicate()
    assert running.returncode is not None
    return running.returncode, json.loads(printed) if printed else {}


async def file(folder: Path, name: str, *contents: Object) -> str:
    """Write a file off the loop; return its path."""
    return await asyncio.to_thread(write, folder, name, *contents)


async def test_webhooks_are_called_where_that_is_allowed(certificate: Certificate, tmp_path: Path) -> None:
    stored = await file(tmp_path, "dump.yaml", {**MAP, "data": {"a": "1"}})
    new = await file(tmp_path, "new.yaml", {**MAP, "metadata": {"name": "n", "namespace": "team"}})
    async with hooking(certificate) as hook:
        hook.answer = lambda _: {"allowed": False, "status": {"message": "no"}}
        head = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
        configuration = {**head, **hook.configuration()}
        hooks = await file(tmp_path, "hook.yaml", configuration)
        assert (await rehearse("policy", hooks, "--from", stored))[0] == 2
        both = await file(tmp_path, "both.yaml", MAP, configuration)
        apply = ("apply", new, "--field-manager", "x", "--from", both)
        code, found = await rehearse(*apply)
        assert (code, len(found["created"]), found["webhooks"]) == (0, 1, {"called": False, "configurations": 1})
        assert hook.seen == []
        code, found = await rehearse(*apply, "--webhooks")
        assert code == 1 and "denied the request: no" in found["refused"][0]["reason"]
        code, found = await rehearse("policy", hooks, "--from", stored, "--webhooks")
        assert code == 1 and {one["operation"] for one in found["refused"]} == {"update", "create"}
        # Nothing that a webhook does lasts.
        assert hook.seen and all(request["dryRun"] for request in hook.seen)


async def test_conversions_there_and_back(certificate: Certificate, tmp_path: Path) -> None:
    converter = Converter()
    async with listening(certificate, "/convert", converter.handle) as port:
        old = {**TYPE, **hooked(certificate, url=f"https://127.0.0.1:{port}/convert")}
        thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a", "namespace": "default"}}
        group, names = old["spec"]["group"], old["spec"]["names"]
        thing = {**thing, "apiVersion": f"{group}/v1", "kind": names["kind"]}
        if old["spec"]["scope"] == "Cluster":
            thing["metadata"] = {"name": "a"}
        stored = await file(tmp_path, "dump.yaml", old, {**thing, "spec": {"hostPort": "h:1"}})
        new = await file(tmp_path, "new.yaml", old)
        code, found = await rehearse("definition", new, "--from", stored)
        (one,) = found["definitions"]
        assert converter.calls == []
        assert (code, one["conversions"]) == (0, []) and "--webhooks" in one["unjudged"][0]["reason"]
        code, found = await rehearse("definition", new, "--from", stored, "--webhooks")
        (one,) = found["definitions"]
        assert converter.calls
        assert (code, one["conversions"]) == (0, [{"version": "v2", "loses": [], "failed": []}])
        converter.mode = "fail"
        code, found = await rehearse("definition", new, "--from", stored, "--webhooks")
        assert code == 1 and "no port here" in found["definitions"][0]["conversions"][0]["failed"][0]["reason"]
